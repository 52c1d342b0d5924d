//! A unified diff of two short texts, for plans that people read. Option files have some hundred lines, so the plain
//! quadratic table is fine; longer texts are shown as replaced whole.

use std::fmt::Write;

const CONTEXT_LINES: usize = 2;
const LINES_MAX: usize = 5000;

pub fn diff(name: &str, before: &str, after: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if a == b {
        return String::new();
    }
    let mut text = format!("--- {name}\n+++ {name}\n");
    if a.len() > LINES_MAX || b.len() > LINES_MAX {
        let _ = writeln!(text, "@@ {} lines become {} @@", a.len(), b.len());
        return text;
    }
    let ops = ops(&a, &b);
    let mut at = 0;
    while at < ops.len() {
        if matches!(ops[at], Op::Same(..)) {
            at += 1;
            continue;
        }
        let start = at.saturating_sub(CONTEXT_LINES);
        let mut end = at;
        // Hunks closer than twice the context are one hunk.
        while end < ops.len()
            && ops[end..].iter().take(2 * CONTEXT_LINES + 1).any(|op| !matches!(op, Op::Same(..)))
        {
            end += 1;
        }
        let end = (end + CONTEXT_LINES).min(ops.len());
        let hunk = &ops[start..end];
        let (from_a, from_b) = position(&ops[..start]);
        let (len_a, len_b) = position(hunk);
        let _ = writeln!(text, "@@ -{},{len_a} +{},{len_b} @@", from_a + 1, from_b + 1);
        for op in hunk {
            let _ = match op {
                Op::Same(line) => writeln!(text, " {line}"),
                Op::Gone(line) => writeln!(text, "-{line}"),
                Op::New(line) => writeln!(text, "+{line}"),
            };
        }
        at = end;
    }
    text
}

#[derive(Clone, Copy)]
enum Op<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

fn position(ops: &[Op<'_>]) -> (usize, usize) {
    ops.iter().fold((0, 0), |(a, b), op| match op {
        Op::Same(_) => (a + 1, b + 1),
        Op::Gone(_) => (a + 1, b),
        Op::New(_) => (a, b + 1),
    })
}

fn ops<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<Op<'a>> {
    let width = b.len() + 1;
    let mut common = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut ops) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            ops.push(Op::Same(a[i]));
            i += 1;
            j += 1;
        } else if j >= b.len() || (i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            ops.push(Op::Gone(a[i]));
            i += 1;
        } else {
            ops.push(Op::New(b[j]));
            j += 1;
        }
    }
    ops
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_changed_line_has_its_neighbours_and_numbers() {
        let text = super::diff("f", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\nx\n5\n6\n7\n");
        assert_eq!(text, "--- f\n+++ f\n@@ -2,5 +2,6 @@\n 2\n 3\n-4\n+x\n 5\n 6\n+7\n");
        assert_eq!(super::diff("f", "a\n", "a\n"), "");
    }
}
