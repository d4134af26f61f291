// Answers SPARQL 1.1 queries with Apache Jena ARQ: reads a JSON object a line, {"query": ..., "data": N-Quads text}, and writes one:
// {"variables": [...], "rows": [{variable: term}]}, {"boolean": ...}, {"triples": [[s, p, o]]} or {"error": kind, "message": ...}.
// Terms are N-Triples text as refengine.model writes it. The argument is the time limit of a query in milliseconds.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.jena.atlas.json.JSON;
import org.apache.jena.atlas.json.JsonObject;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.Triple;
import org.apache.jena.query.ARQ;
import org.apache.jena.query.Query;
import org.apache.jena.query.QueryCancelledException;
import org.apache.jena.query.QueryFactory;
import org.apache.jena.query.QueryParseException;
import org.apache.jena.query.Syntax;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFParser;
import org.apache.jena.riot.system.ErrorHandlerFactory;
import org.apache.jena.sparql.core.DatasetGraph;
import org.apache.jena.sparql.core.DatasetGraphFactory;
import org.apache.jena.sparql.core.Var;
import org.apache.jena.sparql.engine.binding.Binding;
import org.apache.jena.sparql.engine.ref.QueryEngineRef;
import org.apache.jena.sparql.exec.QueryExec;
import org.apache.jena.sparql.exec.RowSet;
import org.apache.jena.system.Txn;

public class Arq {
    public static void main(String[] arguments) throws Exception {
        long limit = Long.parseLong(arguments[0]);
        ARQ.init();
        ARQ.setStrictMode(); // no extensions of syntax, values or functions, no optimiser
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonObject asked = JSON.parse(line);
            out.println(reply(asked.get("query").getAsString().value(), asked.get("data").getAsString().value(), limit));
        }
    }

    static String reply(String text, String data, long limit) {
        try {
            Query query = QueryFactory.create(text, Syntax.syntaxSPARQL_11);
            DatasetGraph dataset = DatasetGraphFactory.createTxnMem(); // matches terms, not values
            return Txn.calculateWrite(dataset, () -> {
                RDFParser.fromString(data, Lang.NQUADS).errorHandler(ErrorHandlerFactory.errorHandlerNoWarnings).parse(dataset);
                try {
                    return answer(query, dataset, limit);
                } catch (NullPointerException error) { // a defect of its hash join: ask its reference evaluator
                    QueryEngineRef.register();
                    try {
                        return answer(query, dataset, limit);
                    } finally {
                        QueryEngineRef.unregister();
                    }
                }
            });
        } catch (QueryParseException error) {
            return failure("parse", error);
        } catch (QueryCancelledException error) {
            return failure("timeout", error);
        } catch (Exception | StackOverflowError error) {
            return failure("run", error);
        }
    }

    static String answer(Query query, DatasetGraph dataset, long limit) {
        try (QueryExec execution = QueryExec.dataset(dataset).query(query).timeout(limit, TimeUnit.MILLISECONDS).build()) {
            if (query.isAskType()) {
                return "{\"boolean\": " + execution.ask() + "}";
            }
            if (query.isConstructType()) {
                List<String> triples = new ArrayList<>();
                for (Iterator<Triple> each = execution.constructTriples(); each.hasNext();) {
                    Triple t = each.next();
                    String subject = quoted(term(t.getSubject()));
                    triples.add("[" + subject + ", " + quoted(term(t.getPredicate())) + ", " + quoted(term(t.getObject())) + "]");
                }
                return "{\"triples\": [" + String.join(", ", triples) + "]}";
            }
            RowSet rows = execution.select();
            List<String> names = new ArrayList<>();
            for (Var name : rows.getResultVars()) {
                names.add(quoted(name.getVarName()));
            }
            List<String> texts = new ArrayList<>();
            while (rows.hasNext()) {
                Binding row = rows.next();
                List<String> terms = new ArrayList<>();
                for (Var name : rows.getResultVars()) {
                    if (row.get(name) != null) {
                        terms.add(quoted(name.getVarName()) + ": " + quoted(term(row.get(name))));
                    }
                }
                texts.add("{" + String.join(", ", terms) + "}");
            }
            return "{\"variables\": [" + String.join(", ", names) + "], \"rows\": [" + String.join(", ", texts) + "]}";
        }
    }

    static String term(Node node) {
        if (node.isURI()) {
            return "<" + node.getURI() + ">";
        }
        if (node.isBlank()) {
            return "_:" + node.getBlankNodeLabel();
        }
        String lexical = node.getLiteralLexicalForm();
        String text = "\"" + lexical.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\r", "\\r") + "\"";
        if (!node.getLiteralLanguage().isEmpty()) {
            return text + "@" + node.getLiteralLanguage().toLowerCase(Locale.ROOT);
        }
        String datatype = node.getLiteralDatatypeURI();
        return datatype.equals("http://www.w3.org/2001/XMLSchema#string") ? text : text + "^^<" + datatype + ">";
    }

    static String failure(String kind, Throwable error) {
        String message = error.getClass().getSimpleName() + ": " + error.getMessage();
        return "{\"error\": " + quoted(kind) + ", \"message\": " + quoted(message) + "}";
    }

    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
