//! The kernel's filter: TCP over IPv4 or IPv6, from or to some ports. Packets begin with their IP header.

/// One instruction of classic BPF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub code: u16,
    pub jump_true: u8,
    pub jump_false: u8,
    pub value: u32,
}

/// Four lists of ports in one program, and jumps reach 255 instructions.
const PORTS_MAX: usize = 48;
const ACCEPT: u32 = u32::MAX;

const LOAD_BYTE: u16 = 0x30; // BPF_LD | BPF_B | BPF_ABS
const LOAD_HALF: u16 = 0x28; // BPF_LD | BPF_H | BPF_ABS
const LOAD_HALF_INDEXED: u16 = 0x48; // BPF_LD | BPF_H | BPF_IND
const LOAD_X_IPV4_HEADER: u16 = 0xb1; // BPF_LDX | BPF_B | BPF_MSH
const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
const JUMP_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_BITS: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

fn plain(code: u16, value: u32) -> Instruction {
    Instruction { code, jump_true: 0, jump_false: 0, value }
}

fn test(code: u16, value: u32, jump_true: usize, jump_false: usize) -> Instruction {
    // PORTS_MAX keeps each jump within reach; one that were not would end up short, at a plain instruction.
    let reach = |distance| u8::try_from(distance).unwrap_or(u8::MAX);
    Instruction { code, jump_true: reach(jump_true), jump_false: reach(jump_false), value }
}

/// Everything: whoever wants each port also wants to know what else there was.
pub(crate) fn everything() -> Vec<Instruction> {
    vec![plain(RETURN, ACCEPT)]
}

/// The program, and whether it knows the ports (else the caller must look at them itself).
pub(crate) fn tcp_ports(ports: &[u16]) -> (Vec<Instruction>, bool) {
    let exact = ports.len() <= PORTS_MAX;
    let ports = if exact { ports } else { &[] };
    let v4 = ports_check(ports, LOAD_HALF_INDEXED, 0);
    let v6 = ports_check(ports, LOAD_HALF, 40);
    let mut program = vec![
        plain(LOAD_BYTE, 0),
        plain(AND, 0xf0),
        test(JUMP_EQUAL, 0x40, 0, 5 + v4.len()),
        plain(LOAD_BYTE, 9),
        test(JUMP_EQUAL, 6, 0, 3 + v4.len() - 1),
        plain(LOAD_HALF, 6),
        test(JUMP_BITS, 0x1fff, 1 + v4.len() - 1, 0),
        plain(LOAD_X_IPV4_HEADER, 0),
    ];
    program.extend(&v4); // Ends with "reject", where the tests above go when they fail.
    program.extend([
        test(JUMP_EQUAL, 0x60, 0, 6 + v6.len() - 1),
        plain(LOAD_BYTE, 6),
        // Extension headers are for us to step over.
        test(JUMP_EQUAL, 0, 3, 0),
        test(JUMP_EQUAL, 43, 2, 0),
        test(JUMP_EQUAL, 60, 1, 0),
        test(JUMP_EQUAL, 6, 1, 1 + v6.len() - 1),
        plain(RETURN, ACCEPT),
    ]);
    program.extend(&v6);
    (program, exact)
}

/// Accepts when the half word at `offset` or the next one is a port of the list, or the list is empty; else rejects.
fn ports_check(ports: &[u16], load: u16, offset: u32) -> Vec<Instruction> {
    if ports.is_empty() {
        return vec![plain(RETURN, ACCEPT), plain(RETURN, 0)];
    }
    let mut out = vec![plain(load, offset)];
    for (index, port) in ports.iter().enumerate() {
        // Over the rest of this list, the second load, the second list and "reject".
        out.push(test(JUMP_EQUAL, u32::from(*port), ports.len() - index - 1 + 1 + ports.len(), 0));
    }
    out.push(plain(load, offset + 2));
    for (index, port) in ports.iter().enumerate() {
        let last = index + 1 == ports.len();
        out.push(test(JUMP_EQUAL, u32::from(*port), ports.len() - index - 1, usize::from(last)));
    }
    out.extend([plain(RETURN, ACCEPT), plain(RETURN, 0)]);
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::segment::{Segment, encode, parse};

    /// The kernel's machine, as far as our programs use it.
    fn run(program: &[Instruction], packet: &[u8]) -> bool {
        let (mut at, mut a, mut x) = (0, 0_u32, 0_u32);
        let byte = |at: u32| packet.get(at as usize).map(|byte| u32::from(*byte));
        loop {
            let instruction = program[at];
            at += 1;
            let half = |at| Some((byte(at)? << 8) | byte(at + 1)?);
            let loaded = match instruction.code {
                LOAD_BYTE => byte(instruction.value),
                LOAD_HALF => half(instruction.value),
                LOAD_HALF_INDEXED => half(x + instruction.value),
                LOAD_X_IPV4_HEADER => {
                    let Some(first) = byte(instruction.value) else { return false };
                    x = (first & 0xf) * 4;
                    continue;
                }
                AND => Some(a & instruction.value),
                RETURN => return instruction.value != 0,
                code => {
                    let holds =
                        if code == JUMP_EQUAL { a == instruction.value } else { a & instruction.value != 0 };
                    at += usize::from(if holds { instruction.jump_true } else { instruction.jump_false });
                    continue;
                }
            };
            match loaded {
                Some(value) => a = value,
                None => return false,
            }
        }
    }

    fn packet(source: &str, destination: &str) -> Vec<u8> {
        encode(&Segment {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            sequence: 1,
            syn: true,
            ack: false,
            fin: false,
            rst: false,
            payload: b"x",
            cut_bytes: 0,
        })
    }

    #[test]
    fn lets_the_ports_pass_in_both_directions_and_both_families() {
        let many: Vec<u16> = (4000..).take(PORTS_MAX).collect();
        for ports in [vec![4567], vec![3306, 4567, 4568], many] {
            let (program, exact) = tcp_ports(&ports);
            assert!(exact && program.len() < 256);
            for port in &ports {
                for ip in ["10.0.0.1", "[::1]"] {
                    let (here, there) = (format!("{ip}:{port}"), format!("{ip}:9"));
                    assert!(run(&program, &packet(&here, &there)), "{ports:?} {here}");
                    assert!(run(&program, &packet(&there, &here)), "{ports:?} {here}");
                    assert!(!run(&program, &packet(&there, &there)), "{ports:?} {there}");
                }
            }
        }
    }

    #[test]
    fn without_ports_or_with_too_many_all_of_tcp_passes_and_nothing_else() {
        let too_many: Vec<u16> = (1..).take(PORTS_MAX + 1).collect();
        for (ports, expected_exact) in [(vec![], true), (too_many, false)] {
            let (program, exact) = tcp_ports(&ports);
            assert_eq!(exact, expected_exact);
            for ip in ["10.0.0.1", "[::1]"] {
                let mut packet = packet(&format!("{ip}:60000"), &format!("{ip}:60001"));
                assert!(run(&program, &packet));
                let v6 = ip.len() == 5;
                packet[if v6 { 6 } else { 9 }] = 17;
                assert!(!run(&program, &packet) && parse(&packet).is_none());
            }
            assert!(!run(&program, &[0x12; 60]));
            assert!(!run(&program, &[0x45; 3]));
        }
    }

    #[test]
    fn later_fragments_are_dropped_and_ipv6_extensions_pass() {
        let (program, _) = tcp_ports(&[4567]);
        let mut fragment = packet("10.0.0.1:4567", "10.0.0.2:4567");
        fragment[7] = 1;
        assert!(!run(&program, &fragment));
        for extension in [0, 43, 60] {
            let mut packet = packet("[::1]:1", "[::1]:2");
            packet[6] = extension;
            assert!(run(&program, &packet));
        }
    }
}
