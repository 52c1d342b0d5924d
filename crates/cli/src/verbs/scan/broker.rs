//! How a broker is reached, the same for both sides.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use queue::Place;
use queue::nats::NatsPlace;
use site::OpsError;

#[derive(Debug, Args)]
pub struct BrokerArgs {
    /// CA certificates of the broker, instead of those of the system
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub nats_ca: Option<PathBuf>,
    /// Credentials file or nkey seed for the broker, with mode 0600
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub nats_login: Option<PathBuf>,
    /// Name at the broker, and of the inbox _INBOX_NAME
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub nats_name: Option<String>,
    /// Wait so many seconds for a broker that is away
    #[arg(long, value_name = "S", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400), hide_short_help = true)]
    pub broker_wait_s: u64,
}

impl BrokerArgs {
    /// # Errors
    /// A place that is neither a file nor a broker, or a name that is none.
    pub fn place(&self, place: &str, name: &str) -> Result<Place, OpsError> {
        let Some((scheme, _)) = place.split_once("://") else { return Ok(Place::File(place.into())) };
        if !matches!(scheme, "nats" | "tls") {
            return Err(OpsError::usage(
                format!("\"{}://\" is not a queue", scheme.escape_default()),
                "a broker is reached by nats:// or tls://",
                "write nats://HOST:PORT, or the name of a file",
            ));
        }
        Ok(Place::Broker(NatsPlace {
            url: place.to_owned(),
            ca: self.nats_ca.clone(),
            login: self.nats_login.clone(),
            name: self.name(name)?,
            wait_max: Duration::from_secs(self.broker_wait_s),
            listener: Arc::new(super::tell),
        }))
    }

    /// # Errors
    /// A name that would be more than one part of a subject.
    pub fn name(&self, otherwise: &str) -> Result<String, OpsError> {
        let name = self.nats_name.as_deref().unwrap_or(otherwise);
        let checked = queue::Zone::parse(name).map_err(|why| {
            OpsError::usage("the name at the broker cannot be used", why, "use --nats-name NAME")
        })?;
        Ok(checked.to_string())
    }
}
