//! Connections by the address that they come from: whoever holds many of them open keeps nobody else away.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// At once, of one address; as many opens of one reader as there are processors that ask.
const OPEN_MAX: usize = 16;
/// Those that wait for one of these, before anything of theirs was read. More are closed.
const WAITING_MAX: usize = 64;
/// Connections of all addresses together, waiting ones among them.
const ALL_MAX: usize = 2048;

#[derive(Debug, Default, Clone)]
pub struct Callers {
    addresses: Arc<Mutex<BTreeMap<IpAddr, Address>>>,
}

#[derive(Debug)]
struct Address {
    open: Arc<Semaphore>,
    count: usize,
}

/// One connection. When it is dropped, another one of its address may come.
#[derive(Debug)]
pub struct Caller {
    address: IpAddr,
    callers: Callers,
    open: Arc<Semaphore>,
    is_in: Option<OwnedSemaphorePermit>,
}

impl Callers {
    /// `None`: there are enough, of this address or of all.
    pub fn come(&self, address: IpAddr) -> Option<Caller> {
        let address = place_of(address);
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.values().map(|one| one.count).sum::<usize>() >= ALL_MAX {
            return None;
        }
        let one = addresses
            .entry(address)
            .or_insert_with(|| Address { open: Arc::new(Semaphore::new(OPEN_MAX)), count: 0 });
        if one.count >= OPEN_MAX + WAITING_MAX {
            return None;
        }
        one.count += 1;
        Some(Caller { address, callers: self.clone(), open: Arc::clone(&one.open), is_in: None })
    }
}

/// Whoever has one address of IPv6 has a network of them.
fn place_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::from((address.to_bits() >> 64 << 64).to_be_bytes()),
        address @ IpAddr::V4(_) => address,
    }
}

impl Caller {
    /// Waits until few enough of its address are in.
    pub async fn is_let_in(&mut self) -> Option<()> {
        self.is_in = Some(Arc::clone(&self.open).acquire_owned().await.ok()?);
        Some(())
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let mut addresses = self.callers.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = addresses.get_mut(&self.address) {
            one.count = one.count.saturating_sub(1);
            if one.count == 0 {
                addresses.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_many_connections_keeps_only_itself_waiting() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(keeps_only_itself_waiting());
    }

    async fn keeps_only_itself_waiting() {
        let callers = Callers::default();
        let (loud, quiet) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let mut open = Vec::new();
        for _ in 0..OPEN_MAX {
            let mut one = callers.come(loud).expect("there is room");
            one.is_let_in().await.expect("at once");
            open.push(one);
        }
        let mut waiting: Vec<Caller> =
            (0..WAITING_MAX).map(|_| callers.come(loud).expect("they may wait")).collect();
        assert!(callers.come(loud).is_none());
        // The same one, as a socket of both families calls it.
        assert!(callers.come("::ffff:192.0.2.1".parse().expect("an address")).is_none());
        assert_eq!(
            place_of("2001:db8::7:8".parse().expect("one")),
            "2001:db8::".parse::<IpAddr>().expect("one")
        );
        let mut other = callers.come(quiet).expect("nobody is in its way");
        other.is_let_in().await.expect("at once");
        let mut first = waiting.remove(0);
        let waits = tokio::spawn(async move { first.is_let_in().await.map(|()| first) });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        open.pop();
        let first = waits.await.expect("it ends").expect("a place is free");
        drop((first, open, waiting, other));
        assert!(callers.addresses.lock().expect("sound").is_empty());
    }

    #[test]
    fn all_together_are_bounded() {
        let callers = Callers::default();
        let comes =
            |number: usize| callers.come(IpAddr::from(u32::try_from(number).unwrap_or(0).to_be_bytes()));
        let all: Vec<Caller> = (0..ALL_MAX).filter_map(comes).collect();
        assert_eq!(all.len(), ALL_MAX);
        assert!(comes(ALL_MAX).is_none());
    }
}
