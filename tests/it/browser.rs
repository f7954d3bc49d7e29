//! `Browser`: a page as Debian's `chromium-headless-shell` shows it, driven by its protocol over two pipes.
//!
//! A page that complains (an exception, something that its policy forbids) fails the test that looks at it.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long a page may take to say what is asked of it, on a machine with much to do.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A tab of a browser; closed when dropped.
pub(crate) struct Browser {
    program: Child,
    to: File,
    from: BufReader<File>,
    last: u64,
    session: String,
    complaints: Vec<String>,
    _folder: TempDir,
}

impl Browser {
    /// A tab of this width that shows the address, once it is loaded.
    pub(crate) fn open(url: &str, width: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [to, from] = ["to", "from"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args([&to, &from]).status().unwrap();
        assert!(made.success());
        let browser = Command::new("sh")
            .args(["-c", "exec chromium-headless-shell --no-sandbox --disable-gpu --remote-debugging-pipe \"--user-data-dir=$1/profile\" about:blank 3<\"$1/to\" 4>\"$1/from\"", "sh"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // In the order of the shell, each end waits for the other.
        let to = OpenOptions::new().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let mut tab = Self {
            program: browser,
            to,
            from,
            last: 0,
            session: String::new(),
            complaints: Vec::new(),
            _folder: folder,
        };
        let target = tab.call("Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = tab.call("Target.attachToTarget", &target);
        session["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut tab.session);
        for domain in ["Runtime", "Log", "Page"] {
            tab.call(&format!("{domain}.enable"), &json!({}));
        }
        tab.width(width);
        tab.call("Page.navigate", &json!({"url": url}));
        tab.until("document.readyState === 'complete' && location.href !== 'about:blank'");
        tab
    }

    /// What an expression comes to.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let request =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let reply = self.call("Runtime.evaluate", &request);
        assert!(reply["exceptionDetails"].is_null(), "{expression}: {reply}");
        reply["result"]["value"].clone()
    }

    /// Waits until an expression holds.
    #[track_caller]
    pub(crate) fn until(&mut self, expression: &str) {
        let began = Instant::now();
        let request =
            json!({"expression": format!("Boolean({expression})"), "returnByValue": true});
        // Between two pages nothing holds.
        while !self
            .request("Runtime.evaluate", &request)
            .is_ok_and(|reply| reply["result"]["value"] == true)
        {
            assert!(
                began.elapsed() < TIMEOUT,
                "`{expression}` does not come to hold: {}\n{:?}",
                self.eval("document.documentElement.innerText"),
                self.complaints
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks the first of these elements that has the text.
    #[track_caller]
    pub(crate) fn click(&mut self, elements: &str, text: &str) {
        let found = self.eval(&format!(
            "(() => {{ const found = [...document.querySelectorAll({elements:?})].find((it) => it.textContent.includes({text:?})); if (found) found.click(); return Boolean(found); }})()"
        ));
        assert_eq!(found, true, "no `{elements}` has `{text}`");
    }

    /// Writes into a field, as somebody who types.
    #[track_caller]
    pub(crate) fn fill(&mut self, field: &str, text: &str) {
        let found = self.eval(&format!(
            "(() => {{ const field = document.querySelector({field:?}); if (!field) return false; field.value = {text:?}; for (const event of ['input', 'change']) field.dispatchEvent(new Event(event, {{bubbles: true}})); return true; }})()"
        ));
        assert_eq!(found, true, "there is no `{field}`");
    }

    /// Presses a key, as somebody does who has a keyboard alone.
    #[track_caller]
    pub(crate) fn key(&mut self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            "Space" => 32,
            key => u32::from(key.to_ascii_uppercase().as_bytes()[0]),
        };
        let text = match key {
            "Enter" => "\r",
            "Space" => " ",
            "Escape" | "Tab" => "",
            key => key,
        };
        let key = if key == "Space" { " " } else { key };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Presses these keys, each with a letter or digit.
    #[track_caller]
    pub(crate) fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            self.key(key.encode_utf8(&mut [0; 4]));
        }
    }

    /// Role and name of all that a screen reader may come to.
    #[track_caller]
    pub(crate) fn accessible(&mut self) -> Vec<(String, String)> {
        let tree = self.call("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().unwrap().iter();
        let seen = nodes.filter(|node| node["ignored"] != true);
        let text = |value: &Value| {
            value["value"]
                .as_str()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        seen.map(|node| (text(&node["role"]), text(&node["name"])))
            .collect()
    }

    /// Has a screen of this width.
    pub(crate) fn width(&mut self, width: u32) {
        self.screen(width, 900);
    }

    /// Has a screen of this size.
    pub(crate) fn screen(&mut self, width: u32, height: u32) {
        let screen =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// Writes what the screen shows as a PNG.
    #[track_caller]
    pub(crate) fn screenshot(&mut self, path: &Path) {
        let shot = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        let mut decoder = Command::new("base64")
            .arg("-d")
            .stdin(Stdio::piped())
            .stdout(File::create(path).unwrap())
            .spawn()
            .unwrap();
        let mut input = decoder.stdin.take().unwrap();
        input
            .write_all(shot["data"].as_str().unwrap().as_bytes())
            .unwrap();
        drop(input);
        assert!(decoder.wait().unwrap().success());
    }

    /// Reads the page anew, as somebody who presses F5.
    #[track_caller]
    pub(crate) fn reload(&mut self) {
        self.eval("window.isOld = true");
        self.call("Page.reload", &json!({}));
        self.until("!window.isOld && document.readyState === 'complete'");
    }

    /// The visible text of the first such element.
    #[track_caller]
    pub(crate) fn text(&mut self, element: &str) -> String {
        let text = self.eval(&format!("document.querySelector({element:?})?.innerText"));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// What the page complained of so far.
    pub(crate) fn complaints(&mut self) -> &[String] {
        // What was said before this answer has arrived.
        self.eval("0");
        &self.complaints
    }

    /// Has it look as this medium has it: `print`, or the screen with features such as `prefers-color-scheme`.
    pub(crate) fn medium(&mut self, medium: &str, scheme: &str) {
        // Nothing is looked at halfway.
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        let wanted = json!({"media": medium, "features": features});
        self.call("Emulation.setEmulatedMedia", &wanted);
    }

    #[track_caller]
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let reply = self.request(method, parameters);
        reply.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// What comes back, or why nothing does.
    fn request(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.last += 1;
        let mut request = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            request["sessionId"] = self.session.clone().into();
        }
        let mut line = request.to_string().into_bytes();
        line.push(0);
        self.to.write_all(&line).unwrap();
        loop {
            let mut reply = Vec::new();
            self.from.read_until(0, &mut reply).unwrap();
            assert_eq!(reply.pop(), Some(0), "the browser ended at {method}");
            let reply: Value = serde_json::from_slice(&reply).unwrap();
            if reply["id"] == self.last {
                return match &reply["error"] {
                    Value::Null => Ok(reply["result"].clone()),
                    error => Err(error.clone()),
                };
            }
            let is_error = reply["params"]["entry"]["level"] == "error";
            match reply["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.complaints.push(reply.to_string()),
                Some("Log.entryAdded") if is_error => self.complaints.push(reply.to_string()),
                _ => {}
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
