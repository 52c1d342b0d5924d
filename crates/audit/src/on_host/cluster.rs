//! Option files of a Galera node, beside what it does: its provider's options, and what scripts of state transfers read.

use model::{Value, facts};
use server::SstTls;
use server::galera::GaleraFacts;
use server::provider_options::ProviderOptions;

use super::HostQuestion;
use crate::asking::Asking;
use crate::beside::Found;

pub const QUESTION: HostQuestion = HostQuestion {
    name: "option files of Galera",
    facts: &[&facts::cluster::GALERA_FILE_DIFFERS, &facts::cluster::SST_CONFIGURED],
    ask,
};

fn ask(asking: &mut Asking<'_>, found: &Found<'_>) {
    if !asking.capabilities.galera {
        return;
    }
    let (differs, sst) = if asking.view.not_galera().is_some() {
        (Value::Absent, Value::Absent)
    } else {
        let differs = match &found.machine.options {
            Ok(options) => {
                let given =
                    options.effective("wsrep_provider_options").and_then(|setting| setting.value.as_deref());
                let given = ProviderOptions::parse(given.unwrap_or_default());
                Value::Text(given.differences(&asking.view.provider_options()).join(", "))
            }
            Err(why) => Value::Unknown(why.clone()),
        };
        let sst = match &found.machine.sst {
            Ok(options) => match options.tls(asking.view.sst_method()) {
                SstTls::On => Value::Bool(true),
                SstTls::Off => Value::Bool(false),
                SstTls::CannotTell(why) => Value::Unknown(why),
            },
            Err(why) => Value::Unknown(why.clone()),
        };
        (differs, sst)
    };
    asking.note_of_host(&facts::cluster::GALERA_FILE_DIFFERS, differs, "sealion config print");
    let how = "my_print_defaults --mysqld; my_print_defaults sst";
    asking.note_of_host(&facts::cluster::SST_CONFIGURED, sst, how);
}
