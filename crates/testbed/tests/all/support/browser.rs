//! Chromium, driven over its own pipe (`--remote-debugging-pipe`): JSON messages, each ended by a zero byte, on the file descriptors 3
//! and 4. No port, no driver program.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Of one answer, on a machine that is busy with other tests.
const ANSWER_MAX: Duration = Duration::from_secs(60);

pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: String,
    /// What nobody has asked for yet.
    events: VecDeque<Value>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    pub fn start(profile: &Path) -> Self {
        let program = crate::lab_demo::browser();
        let mut command = Command::new("sh");
        command
            // The pipe's ends become 3 and 4, and the program the shell itself.
            .args(["-c", "exec 3<&0 4>&1; exec \"$@\" 0</dev/null 1>/dev/null 2>/dev/null", "sh", &program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-dev-shm-usage",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--remote-debugging-pipe",
            ])
            .args(["--window-size=1280,900", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        let to = child.stdin.take().expect("it is piped");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut text = Vec::new();
            while out.read_until(0, &mut text).is_ok_and(|bytes| bytes > 0) {
                text.pop();
                if let Ok(message) = serde_json::from_slice::<Value>(&text)
                    && send.send(message).is_err()
                {
                    break;
                }
                text.clear();
            }
        });
        let mut browser = Self { child, to, from, next: 0, session: String::new(), events: VecDeque::new() };
        let target = browser.ask("Target.createTarget", &json!({"url": "about:blank"}));
        let attached =
            browser.ask("Target.attachToTarget", &json!({"targetId": target["targetId"], "flatten": true}));
        attached["sessionId"].as_str().expect("a session").clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log", "Audits"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    fn receive(&mut self, until: Instant) -> Option<Value> {
        match self.from.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("Chromium has ended: {:?}", self.child.try_wait()),
        }
    }

    /// The result of a method of the DevTools protocol.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let message = self.try_ask(method, params);
        assert!(message["error"].is_null(), "{method}: {}", message["error"]);
        message["result"].clone()
    }

    /// The whole answer, which may be an error.
    fn try_ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("Chromium listens");
        let until = Instant::now() + ANSWER_MAX;
        loop {
            let message = self.receive(until).unwrap_or_else(|| panic!("Chromium does not answer {method}"));
            if message["id"] == id {
                return message;
            }
            self.events.push_back(message);
        }
    }

    /// Until a page is there.
    pub fn open(&mut self, url: &str) {
        // Of an address that differs in what is behind # alone nothing is loaded.
        let is_there = |event: &Value| {
            ["Page.loadEventFired", "Page.navigatedWithinDocument"]
                .iter()
                .any(|method| event["method"] == **method)
        };
        self.events.retain(|event| !is_there(event));
        let went = self.ask("Page.navigate", &json!({"url": url}));
        assert!(went["errorText"].is_null(), "{url}: {went}");
        let until = Instant::now() + ANSWER_MAX;
        while !self.events.iter().any(is_there) {
            let message = self.receive(until).unwrap_or_else(|| panic!("{url} is not loaded"));
            self.events.push_back(message);
        }
    }

    /// What an expression is.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.ask(
            "Runtime.evaluate",
            &json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Until it is true.
    pub fn wait_for(&mut self, expression: &str) {
        let until = Instant::now() + ANSWER_MAX;
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        loop {
            let answer = self.try_ask("Runtime.evaluate", &params);
            // A page that goes to another one meanwhile has no answer, and the next one has.
            let is_gone = answer["error"]["message"].as_str().is_some_and(|why| why.contains("navigated"));
            assert!(is_gone || answer["error"].is_null(), "{expression}: {answer}");
            if answer["result"]["result"]["value"] == true {
                return;
            }
            // Nor has one that is not whole yet, whose expression fails.
            assert!(Instant::now() < until, "{expression} does not become true: {answer}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// What the page's console, its policy and its scripts complained of since the last time that this was asked.
    pub fn complaints(&mut self) -> Vec<String> {
        // Behind what it has to say of what it has done.
        self.evaluate("new Promise(done => setTimeout(done, 50))");
        self.events
            .drain(..)
            .filter(|event| {
                let params = &event["params"];
                match event["method"].as_str().unwrap_or_default() {
                    "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
                    "Runtime.consoleAPICalled" => {
                        ["error", "warning", "assert"].iter().any(|kind| params["type"] == **kind)
                    }
                    "Log.entryAdded" => {
                        ["error", "warning"].iter().any(|level| params["entry"]["level"] == **level)
                    }
                    "Audits.issueAdded" => params["issue"]["code"] == "ContentSecurityPolicyIssue",
                    _ => false,
                }
            })
            .map(|event| event["params"].to_string())
            .collect()
    }

    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.ask("Emulation.setEmulatedMedia", &json!({"media": "screen", "features": features}));
    }

    /// The whole page, as PNG in base64.
    pub fn picture(&mut self) -> String {
        let size = self.ask("Page.getLayoutMetrics", &json!({}))["cssContentSize"].clone();
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1});
        let shot = self.ask("Page.captureScreenshot", &json!({"clip": clip, "captureBeyondViewport": true}));
        shot["data"].as_str().expect("a picture").to_owned()
    }
}
