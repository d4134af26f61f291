//! rsp-rs behind the harness protocol.
//!
//! An element is given triple by triple, to the window of its stream, in this thread; the engine's channel would hand it to the
//! same window in another one. What the engine finds while it takes a triple is one report. `end` closes each stream as the
//! engine's documentation asks for: by its sentinel, at an instant past every window.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{mpsc::Receiver, Arc, Mutex};

use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::model::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use rsp_rs::{BindingWithTimestamp, CSPARQLWindow, QuadContainer, R2ROperator, RSPEngine};
use serde_json::{json, Value};

mod printed;

/// A query of the suite, registered.
struct Case {
    inputs: HashMap<String, Arc<Mutex<CSPARQLWindow>>>, // of each stream
    results: Receiver<BindingWithTimestamp>,
    latest: i64,
    longest: i64,
}

type Reply = Result<Value, String>; // an error is the reason why something is unsupported

fn main() {
    let mut case = None;
    for line in io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let mut reply = match catch_unwind(AssertUnwindSafe(|| answer(&mut case, &command))) {
            Ok(Ok(reply)) => reply,
            Ok(Err(reason)) => json!({"reply": "unsupported", "reason": reason}),
            Err(_) => json!({"reply": "error", "context": "the engine panicked; see its standard error"}),
        };
        reply["seq"] = command["seq"].clone();
        println!("{reply}");
        if command["command"] == "stop" {
            return;
        }
    }
}

fn answer(case: &mut Option<Case>, command: &Value) -> Reply {
    match text(&command["command"]) {
        "start" => return Ok(json!({"reply": "result", "protocol": 1, "engine": "rsp-rs", "version": "0.3.5"})),
        "register" => *case = Some(register(command)?),
        "push" => return push(case.as_mut().expect("a query"), command),
        "end" => return Ok(end(case.as_ref().expect("a query"))),
        _ => (), // advance: the engine knows no time but that of an element
    }
    Ok(relations(vec![]))
}

fn register(command: &Value) -> Result<Case, String> {
    let mut engine = RSPEngine::new(text(&command["query"]).into());
    let sparql = R2ROperator::new(engine.parsed_query().sparql_query.clone());
    if let Err(error) = sparql.execute(&QuadContainer::new(HashSet::new(), 0)) {
        return Err(format!("its SPARQL evaluator, which the engine does not ask before, says: {error}"));
    }
    for quad in quads(command["static"].as_str().unwrap_or(""), "static") {
        engine.add_static_data(quad);
    }
    engine.initialize().expect("windows");
    let windows = &engine.parsed_query().s2r;
    // as in its `initialize`: of two windows on one stream the second gets the elements
    let input =
        windows.iter().map(|window| (window.stream_name.clone(), engine.get_window(&window.window_name).expect("a window")));
    Ok(Case {
        inputs: input.collect(),
        results: engine.start_processing(),
        latest: 0,
        longest: windows.iter().map(|window| window.width + window.slide).max().unwrap_or(0),
    })
}

fn push(case: &mut Case, command: &Value) -> Reply {
    let (at, stream) = (command["at"].as_i64().expect("an instant"), text(&command["stream"]));
    let Some(window) = case.inputs.get(stream) else {
        return Ok(relations(vec![])); // the query does not name it
    };
    if command["end"].as_i64().is_some_and(|end| end != at) {
        return Err("its elements have an instant, and no interval".into());
    }
    let triples = quads(text(&command["graph"]), stream);
    if triples.is_empty() {
        return Err("its elements are triples; this one has none".into());
    }
    case.latest = case.latest.max(at);
    Ok(relations(triples.into_iter().map(|triple| give(case, window, triple, at)).collect()))
}

fn end(case: &Case) -> Value {
    let [subject, predicate] = ["urn:rsp:sentinel", "urn:rsp:type"].map(NamedNode::new_unchecked);
    let sentinel = Quad::new(subject, predicate, Literal::new_simple_literal("end"), GraphName::DefaultGraph);
    let mut streams: Vec<_> = case.inputs.iter().collect();
    streams.sort_by_key(|(name, _)| *name);
    let past = case.latest + 2 * case.longest;
    relations(streams.into_iter().map(|(_, window)| give(case, window, sentinel.clone(), past)).collect())
}

/// Give a window one triple, and return the rows that the engine finds.
fn give(case: &Case, window: &Mutex<CSPARQLWindow>, triple: Quad, at: i64) -> Vec<Value> {
    window.lock().expect("a window").add(triple, at);
    case.results.try_iter().map(|result| printed::row(&result.bindings)).collect()
}

/// Return the quads of a text. Labels of blank nodes are those of their stream.
fn quads(text: &str, stream: &str) -> Vec<Quad> {
    let own = |node: &BlankNode| {
        BlankNode::new_unchecked(format!("{}_{}", stream.replace(|c: char| !c.is_alphanumeric(), "_"), node.as_str()))
    };
    let parsed = RdfParser::from_format(RdfFormat::NQuads).for_slice(text.as_bytes()).map(|quad| {
        let mut quad = quad.expect("N-Quads");
        if let NamedOrBlankNode::BlankNode(node) = &quad.subject {
            quad.subject = own(node).into();
        }
        if let Term::BlankNode(node) = &quad.object {
            quad.object = own(node).into();
        }
        quad
    });
    parsed.collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn relations(reports: Vec<Vec<Value>>) -> Value {
    let reports = reports.into_iter().filter(|rows| !rows.is_empty());
    json!({"reply": "result", "relations": reports.map(|rows| json!({"rows": rows})).collect::<Vec<_>>()})
}
