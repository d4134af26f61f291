//! Janus's windows over streams behind the harness protocol: compile it where it stands, with Janus (`janus`), rsp-rs, oxigraph,
//! regex and serde_json.
//!
//! Janus gets JanusQL. Each line of N-Triples is read by its own reader of lines, which is how it gets its events; what that cannot
//! read is unsupported. A window has a thread that takes the events. The harness waits until all other threads sleep; what has been
//! found by then is one report. `end` gives each stream Janus's own sentinel, past every window.

use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

use janus::core::RDFEvent;
use janus::extensions::query_options::build_evaluator;
use janus::parsing::{janusql_parser::JanusQLParser, rdf_parser::parse_rdf_line};
use janus::stream::live_stream_processing::LiveStreamProcessing;
use oxigraph::store::Store;
use serde_json::{json, Value};

#[path = "../../engines/rsp-rs/src/printed.rs"]
mod printed; // Janus prints a row as rsp-rs does

extern "C" {
    fn dup2(old: i32, new: i32) -> i32;
}

/// A query of the suite, registered.
struct Case {
    live: LiveStreamProcessing,
    longest: u64,
    latest: u64,
}

type Reports = Result<Vec<Value>, String>; // an error is the reason why something is unsupported

fn main() {
    let mut output = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned().expect("standard output"));
    unsafe { dup2(2, 1) }; // what Janus prints goes to standard error
    let mut case = None;
    for line in io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let mut reply = match catch_unwind(AssertUnwindSafe(|| answer(&mut case, &command))) {
            Ok(Ok(reports)) => json!({"reply": "result", "relations": reports}),
            Ok(Err(reason)) => json!({"reply": "unsupported", "reason": reason}),
            Err(_) => json!({"reply": "error", "context": "the engine panicked; see its standard error"}),
        };
        if command["command"] == "start" {
            reply = json!({"reply": "result", "protocol": 1, "engine": "janus", "version": "0.1.0"});
        }
        reply["seq"] = command["seq"].clone();
        writeln!(output, "{reply}").expect("standard output");
        if command["command"] == "stop" {
            return;
        }
    }
}

fn answer(case: &mut Option<Case>, command: &Value) -> Reports {
    match (text(&command["command"]), case) {
        ("register", case) => *case = Some(register(command)?),
        ("push", Some(case)) => return push(case, command),
        ("end", Some(case)) => {
            let past = (case.latest + 2 * case.longest) as i64;
            let mut reports = vec![];
            let mut streams = case.live.get_registered_streams();
            streams.sort(); // Janus has them in no order
            for stream in streams {
                case.live.close_stream(&stream, past).map_err(|error| error.to_string())?;
                reports.extend(found(&case.live));
            }
            return Ok(reports);
        }
        _ => (), // of `advance`, too: Janus knows no time but that of an event
    }
    Ok(vec![])
}

fn register(command: &Value) -> Result<Case, String> {
    let query = JanusQLParser.parse(text(&command["query"])).map_err(|error| format!("its parser says: {error}"))?;
    let sparql = rsp_rs::RSPEngine::new(query.rspql_query.clone()).parsed_query().sparql_query.clone();
    refuse(&sparql).map_err(|reason| format!("its SPARQL evaluator, which Janus does not ask before, says: {reason}"))?;
    let mut live = LiveStreamProcessing::new(query.rspql_query).map_err(|error| error.to_string())?;
    for line in command["static"].as_str().unwrap_or_default().lines() {
        live.add_static_data(event(line, 0)?).map_err(|error| error.to_string())?;
    }
    for window in &query.live_windows {
        live.register_stream(&window.stream_name).map_err(|error| error.to_string())?;
    }
    live.start_processing().map_err(|error| error.to_string())?;
    let longest = query.live_windows.iter().map(|window| window.width + window.slide).max().unwrap_or(0);
    Ok(Case { live, longest, latest: 0 })
}

/// Ask Janus's SPARQL evaluator over no data, for the reason why it refuses a query.
fn refuse(sparql: &str) -> Result<(), String> {
    let query = build_evaluator().parse_query(sparql).map_err(|error| error.to_string())?;
    query.on_store(&Store::new().expect("a store")).execute().map(drop).map_err(|error| error.to_string())
}

fn push(case: &mut Case, command: &Value) -> Reports {
    let at = command["at"].as_u64().ok_or("its instants are not negative")?;
    let stream = text(&command["stream"]);
    if !case.live.get_registered_streams().iter().any(|name| name == stream) {
        return Ok(vec![]); // the query does not name it
    }
    if command.get("end").is_some_and(|end| *end != command["at"]) {
        return Err("its events have an instant, and no interval".into());
    }
    let graph = Some(text(&command["graph"])).filter(|graph| !graph.is_empty());
    let lines = graph.ok_or("its events are triples; this element has none")?.lines();
    let events = lines.map(|line| event(line, at)).collect::<Result<Vec<_>, _>>()?;
    case.latest = case.latest.max(at);
    let mut reports = vec![];
    for event in events {
        case.live.add_event(stream, event).map_err(|error| error.to_string())?;
        reports.extend(found(&case.live));
    }
    Ok(reports)
}

/// Return the report of the rows that live windows have found when all their threads sleep, if there are any.
fn found(live: &LiveStreamProcessing) -> Option<Value> {
    while std::fs::read_dir("/proc/self/task").expect("threads").any(|task| is_busy(task.expect("a thread").path())) {
        std::thread::sleep(Duration::from_micros(50));
    }
    let rows = live.collect_results(None).expect("rows");
    let rows: Vec<Value> = rows.iter().map(|row| printed::row(&row.bindings)).collect();
    (!rows.is_empty()).then(|| json!({"rows": rows}))
}

/// Whether a thread other than this one does not sleep.
fn is_busy(task: std::path::PathBuf) -> bool {
    let Ok(state) = std::fs::read_to_string(task.join("stat")) else {
        return false; // it has ended
    };
    let is_own = task.file_name().is_some_and(|id| id.to_string_lossy() == std::process::id().to_string());
    !is_own && !state[state.rfind(')').expect("a state")..].starts_with(") S")
}

/// Return a line of N-Triples or N-Quads as the event that Janus reads from it.
fn event(line: &str, at: u64) -> Result<RDFEvent, String> {
    let read = parse_rdf_line(line, false).map_err(|error| format!("its reader of events says: {error}"))?;
    Ok(RDFEvent { timestamp: at, ..read })
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
