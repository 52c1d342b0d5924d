//! Memory whose address a direct write accepts.

/// What a direct write wants of memory, offset and length, with every usual disk. Source: open(2), `O_DIRECT`.
pub const ALIGNED_BYTES: usize = 4096;

/// Room in which the byte behind the first `head_bytes` is [`ALIGNED_BYTES`]-aligned.
pub struct Aligned {
    memory: Vec<u8>,
    begin: usize,
}

impl Aligned {
    pub fn new(head_bytes: usize, body_bytes: usize) -> Self {
        let memory = vec![0; ALIGNED_BYTES + head_bytes + body_bytes];
        let past = (memory.as_ptr().addr() + head_bytes) % ALIGNED_BYTES;
        Self { memory, begin: (ALIGNED_BYTES - past) % ALIGNED_BYTES }
    }

    /// The first bytes of it; fewer, if it is not so large.
    pub fn first(&mut self, length: usize) -> &mut [u8] {
        let end = (self.begin + length).min(self.memory.len());
        self.memory.get_mut(self.begin..end).unwrap_or_default()
    }
}
