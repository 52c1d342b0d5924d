//! The same of many servers, some at a time: each may be at the other end of a slow line.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// As many as `status` asks at once.
const AT_ONCE: usize = 32;

/// `what` of each, in their order.
pub fn each<T: Sync, R: Send>(all: &[T], what: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(all.len()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(all.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(one) = all.get(at) else { return };
                    let result = what(one);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn each_is_done_once_and_in_order() {
        let all: Vec<usize> = (0..100).collect();
        assert_eq!(each(&all, |one| one * 2), all.iter().map(|one| one * 2).collect::<Vec<_>>());
        assert!(each(&[0_u8; 0], |one| *one).is_empty());
    }
}
