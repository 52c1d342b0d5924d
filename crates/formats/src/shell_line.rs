//! Commands of a shell script, or of one line of a crontab, as words: enough to see which programs are run with which arguments.
//!
//! Nothing is expanded: `$NAME` stays as it is. Conditions and loops are passed over, so that what only might run is there too. What stands
//! in `$(…)` and in backticks are commands of their own.

/// A script that is longer is no job of a person.
pub const SCRIPT_BYTES_MAX: usize = 256 * 1024;
/// `$(` in `$(` in …
const DEPTH_MAX: usize = 8;

/// Commands with pipes between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// Where it begins; the first line is 1.
    pub line: usize,
    /// The words of each, quotes taken off. Redirections are left out.
    pub commands: Vec<Vec<String>>,
}

/// Of a whole script. What is not understood gives fewer words, and never an error: a shell would say what is wrong.
pub fn pipelines(text: &str) -> Vec<Pipeline> {
    let mut reader = Reader::new(text, 1, 0);
    reader.read();
    reader.done.sort_by_key(|pipeline| pipeline.line);
    reader.done
}

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
    depth: usize,
    word: Option<String>,
    /// The next word is where a redirection leads.
    is_target: bool,
    words: Vec<String>,
    commands: Vec<Vec<String>>,
    begins: usize,
    /// Ends of texts that follow the line.
    here: Vec<(String, bool)>,
    is_here_word: Option<bool>,
    done: Vec<Pipeline>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, line: usize, depth: usize) -> Self {
        Self {
            rest: text.chars().peekable(),
            line,
            depth,
            word: None,
            is_target: false,
            words: vec![],
            commands: vec![],
            begins: line,
            here: vec![],
            is_here_word: None,
            done: vec![],
        }
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.next();
        if next == Some('\n') {
            self.line += 1;
        }
        next
    }

    fn takes(&mut self, wanted: char) -> bool {
        let is_it = self.rest.peek() == Some(&wanted);
        if is_it {
            self.next();
        }
        is_it
    }

    fn put(&mut self, char: char) {
        self.word.get_or_insert_default().push(char);
    }

    fn read(&mut self) {
        while let Some(char) = self.next() {
            match char {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_word();
                    // Behind a pipe the next line goes on with it.
                    if self.commands.is_empty() || !self.words.is_empty() {
                        self.end_pipeline();
                    }
                    self.skip_here();
                }
                ';' | '(' | ')' => self.end_pipeline(),
                '&' if self.rest.peek() == Some(&'>') => self.end_word(),
                // `2>&1` was taken with its sign.
                '&' => self.end_pipeline(),
                '|' => {
                    if self.takes('|') {
                        self.end_pipeline();
                    } else {
                        self.takes('&');
                        self.end_command();
                    }
                }
                '<' | '>' => self.redirection(char),
                '#' if self.word.is_none() => {
                    while self.rest.peek().is_some_and(|char| *char != '\n') {
                        self.next();
                    }
                }
                '\'' => {
                    self.word.get_or_insert_default();
                    while let Some(char) = self.next().filter(|char| *char != '\'') {
                        self.put(char);
                    }
                }
                '"' => self.double_quoted(),
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(char) => self.put(char),
                },
                '$' if self.rest.peek() == Some(&'(') => self.substitution(),
                '`' => self.backticks(),
                other => self.put(other),
            }
        }
        self.end_pipeline();
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(char) = self.next() {
            match char {
                '"' => return,
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(char) => {
                        if !matches!(char, '"' | '\\' | '$' | '`') {
                            self.put('\\');
                        }
                        self.put(char);
                    }
                },
                '$' if self.rest.peek() == Some(&'(') => self.substitution(),
                '`' => self.backticks(),
                other => self.put(other),
            }
        }
    }

    /// `$(…)`, to the parenthesis that ends it.
    fn substitution(&mut self) {
        let line = self.line;
        self.next();
        let (mut deep, mut quote, mut inside) = (1, None, String::new());
        while let Some(char) = self.next() {
            match (quote, char) {
                (None, '(') => deep += 1,
                (None, ')') => deep -= 1,
                (None, '\'' | '"') => quote = Some(char),
                (Some(open), char) if open == char => quote = None,
                (_, '\\') => {
                    inside.push(char);
                    inside.extend(self.next());
                    continue;
                }
                _ => {}
            }
            if deep == 0 {
                break;
            }
            inside.push(char);
        }
        self.word.get_or_insert_default().push_str("$()");
        self.commands_of(&inside, line);
    }

    fn backticks(&mut self) {
        let line = self.line;
        let mut inside = String::new();
        while let Some(char) = self.next().filter(|char| *char != '`') {
            if char == '\\' {
                inside.extend(self.next());
            } else {
                inside.push(char);
            }
        }
        self.word.get_or_insert_default().push_str("$()");
        self.commands_of(&inside, line);
    }

    fn commands_of(&mut self, text: &str, line: usize) {
        if self.depth < DEPTH_MAX {
            let mut reader = Reader::new(text, line, self.depth + 1);
            reader.read();
            self.done.append(&mut reader.done);
        }
    }

    /// `> file`, `2>&1`, `<<EOF`, `<(…)`.
    fn redirection(&mut self, sign: char) {
        // The number in front of it.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|char| char.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.rest.peek() == Some(&'(') {
            return;
        }
        if sign == '<' && self.takes('<') {
            if self.takes('<') {
                self.is_target = true;
            } else {
                self.is_here_word = Some(self.takes('-'));
            }
            return;
        }
        while matches!(self.rest.peek(), Some('>' | '&' | '|')) {
            self.next();
        }
        self.is_target = true;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if let Some(has_tabs) = self.is_here_word.take() {
            self.here.push((word, has_tabs));
        } else if std::mem::take(&mut self.is_target) {
            // Where it leads is no argument.
        } else {
            if self.words.is_empty() && self.commands.is_empty() {
                self.begins = self.line;
            }
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_target = false;
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }

    fn end_pipeline(&mut self) {
        self.end_command();
        if !self.commands.is_empty() {
            let commands = std::mem::take(&mut self.commands);
            self.done.push(Pipeline { line: self.begins.min(self.line), commands });
        }
    }

    fn skip_here(&mut self) {
        for (end, has_tabs) in std::mem::take(&mut self.here) {
            loop {
                let mut line = String::new();
                let mut is_last = true;
                while let Some(char) = self.next() {
                    if char == '\n' {
                        is_last = false;
                        break;
                    }
                    line.push(char);
                }
                let line = if has_tabs { line.trim_start_matches('\t') } else { &line };
                if line == end || is_last {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(text: &str) -> Vec<String> {
        let command = |words: &Vec<String>| words.join("·");
        pipelines(text)
            .iter()
            .map(|one| {
                format!("{}: {}", one.line, one.commands.iter().map(command).collect::<Vec<_>>().join(" | "))
            })
            .collect()
    }

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, expected) in [
            ("mysqldump --all-databases > /b/x.sql", &["1: mysqldump·--all-databases"][..]),
            ("a 'b c' \"d $e\" f\\ g", &["1: a·b c·d $e·f g"]),
            ("a 2>&1 >/dev/null | b |& c", &["1: a | b | c"]),
            ("a; b && c || d & e", &["1: a", "1: b", "1: c", "1: d", "1: e"]),
            ("a |\n  b | # why\n\n  c\nd", &["1: a | b | c", "5: d"]),
            ("# a comment\na # and one\nb#c", &["2: a", "3: b#c"]),
            ("a \\\n  --b \\\n  --c\nd", &["1: a·--b·--c", "4: d"]),
            ("x=$(mysqldump -u a \"b)\" | gzip) y", &["1: mysqldump·-u·a·b) | gzip", "1: x=$()·y"]),
            ("tar c `ls -a` | nc h 1", &["1: ls·-a", "1: tar·c·$() | nc·h·1"]),
            ("cat <<EOF\nmysqldump -psecret\nEOF\nb", &["1: cat", "4: b"]),
            ("cat <<-'E N'\n\tx\n\tE N\nb", &["1: cat", "4: b"]),
            ("if a; then b; fi", &["1: if·a", "1: then·b", "1: fi"]),
            ("(a; b)", &["1: a", "1: b"]),
            ("a &> log", &["1: a"]),
            ("a <<< word b", &["1: a·b"]),
            ("diff <(a) <(b)", &["1: diff", "1: a", "1: b"]),
            ("a ''", &["1: a·"]),
            ("", &[]),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_no_word_is_made_up(text in "[a-z $()`'\"\\\\|;&<>#\n-]{0,80}") {
            for pipeline in pipelines(&text) {
                prop_assert!(pipeline.line >= 1 && pipeline.line <= text.lines().count().max(1) + 1);
                prop_assert!(!pipeline.commands.is_empty());
                let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).count();
                let words: usize = pipeline.commands.iter().flatten().map(|word| letters(word)).sum();
                prop_assert!(words <= letters(&text));
            }
        }
    }
}
