// yasper, the engine of rsp4j, behind the harness protocol: `java -cp CLASSPATH YasperHarness.java`. The classpath is that of
// rsp4j's module operatorapi, which runs whole queries on yasper; the Jena on it reads the JSON and the triples here, too.
//
// The engine runs on application time, and evaluates inside the call that puts an element. It has no windows below a second, so
// a millisecond of the suite is a second of the engine. At the end an element of ours, without triples, comes after all
// windows, a millisecond of the engine after a full second, where no window opens or closes.

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.*;
import java.util.regex.*;
import org.antlr.v4.runtime.*;
import org.antlr.v4.runtime.tree.ParseTree;
import org.apache.commons.rdf.api.*;
import org.apache.commons.rdf.simple.SimpleRDF;
import org.apache.jena.atlas.json.*;
import org.apache.jena.graph.Node;
import org.apache.jena.riot.*;
import org.apache.jena.riot.lang.LabelToNode;
import org.apache.jena.riot.system.StreamRDFLib;
import org.streamreasoning.rsp4j.api.exceptions.OutOfOrderElementException;
import org.streamreasoning.rsp4j.api.operators.r2r.Var;
import org.streamreasoning.rsp4j.api.querying.ContinuousQuery;
import org.streamreasoning.rsp4j.api.querying.syntax.*;
import org.streamreasoning.rsp4j.io.DataStreamImpl;
import org.streamreasoning.rsp4j.operatorapi.*;
import org.streamreasoning.rsp4j.yasper.querying.operators.r2r.Binding;
import org.streamreasoning.rsp4j.yasper.querying.operators.r2r.joins.NestedJoinAlgorithm;
import org.streamreasoning.rsp4j.yasper.querying.syntax.TPQueryFactory;

public class YasperHarness {
    static final long UNIT = 1000; // ms of the engine in a ms of the suite
    static final Pattern WINDOW = Pattern.compile("\\[RANGE (P[0-9A-Z.]+) STEP (P[0-9A-Z.]+)\\]");
    // What its grammar takes and its reader of queries (TPVisitorImpl) never looks at, by the grammar's rules and words.
    static final Set<String> NOT_READ = Set.of("constructQuery", "askQuery", "describeQuery", "subSelect", "baseDecl", "namedGraphClause", "physicalWindow", "optionalGraphPattern", "minusGraphPattern", "graphGraphPattern", "bind", "dataBlock", "groupClause", "havingClause", "orderClause", "limitOffsetClauses", "triplesNodePath", "pathMod", "pathNegatedPropertySet", "functionCall", "argList", "UNION", "|", "/", "^", "DISTINCT", "REDUCED");
    final RDF terms = new SimpleRDF(); // one for all elements of a case: a blank node's label is a name in the whole stream
    final Map<String, DataStreamImpl<Graph>> streams = new LinkedHashMap<>();
    final List<String> relations = new ArrayList<>(); // sent at the end, when it is known that it takes all elements
    final JsonArray rows = new JsonArray(); // of the element that is being put
    long reach; // the longest window, in ms of the suite
    Long last; // the instant of the latest element

    String reply(String command, JsonObject asked) throws Exception {
        if (command.equals("start")) return "\"protocol\": 1, \"engine\": \"yasper\", \"version\": \"1.0.1\"";
        if (command.equals("register")) register(text(asked.get("query")), asked);
        if (command.equals("push")) push(asked);
        if (command.equals("end") && last != null) for (String stream : streams.keySet()) put(stream, terms.createGraph(), Math.addExact(Math.multiplyExact(last + reach + 2, UNIT), 1));
        return "\"relations\": [" + (command.equals("end") ? String.join(", ", relations) : "") + "]";
    }

    void register(String query, JsonObject asked) throws Exception {
        query = WINDOW.matcher(query).replaceAll(found -> {
            reach = Math.max(reach, Duration.parse(found.group(1)).toMillis());
            return "[RANGE PT" + Duration.parse(found.group(1)).toMillis() + "S STEP PT" + Duration.parse(found.group(2)).toMillis() + "S]";
        });
        if (asked.hasKey("static")) query = query.replaceFirst("FROM NAMED WINDOW", "FROM <" + Files.writeString(Files.createTempFile("static", ".nt"), text(asked.get("static"))) + "> FROM NAMED WINDOW");
        RSPQLParser parser = new RSPQLParser(new CommonTokenStream(new RSPQLLexer(new CaseChangingCharStream(CharStreams.fromString(query), true))));
        refuseWhatIsNotRead(parser.queryUnit(), parser);
        if (parser.getNumberOfSyntaxErrors() > 0) throw new UnsupportedOperationException("its grammar does not take the query");
        ContinuousProgram.ContinuousProgramBuilder<Graph, Graph, Binding, Binding> program = new ContinuousProgram.ContinuousProgramBuilder<>();
        for (JsonValue name : asked.get("streams").getAsArray()) {
            streams.put(text(name), new DataStreamImpl<>(text(name)));
            program.in(streams.get(text(name)));
        }
        try {
            ContinuousQuery<Graph, Graph, Binding, Binding> parsed = TPQueryFactory.parse(query);
            parsed.getOutputStream().addConsumer((row, at) -> rows.add(row(row)));
            program.addTask(new QueryTaskOperatorAPIImpl.QueryTaskBuilder().fromQuery(parsed).build()).out(parsed.getOutputStream()).addJoinAlgorithm(new NestedJoinAlgorithm()).build();
        } catch (RuntimeException refused) {
            throw new UnsupportedOperationException("it does not take the query: " + refused);
        }
    }

    /** Refuse a query of which the engine would silently pass over a part. */
    static void refuseWhatIsNotRead(ParseTree tree, RSPQLParser parser) {
        String name = tree instanceof ParserRuleContext ? parser.getRuleNames()[((ParserRuleContext) tree).getRuleIndex()] : tree.getText().toUpperCase();
        boolean isOtherAggregate = tree instanceof RSPQLParser.AggregateContext && !tree.getText().matches("(?i)COUNT\\((DISTINCT)?\\?\\w+\\)");
        boolean isFunction = name.equals("builtInCall") && !(tree.getChild(0) instanceof RSPQLParser.AggregateContext);
        if (isFunction || NOT_READ.contains(name)) throw new UnsupportedOperationException("it passes over " + name + " without a word");
        if (isOtherAggregate) throw new UnsupportedOperationException("its only aggregate is COUNT of a variable, and this is " + tree.getText());
        for (int i = 0; i < tree.getChildCount(); i++) refuseWhatIsNotRead(tree.getChild(i), parser);
    }

    void push(JsonObject asked) {
        long at = asked.get("at").getAsNumber().value().longValue();
        if (asked.hasKey("end")) throw new UnsupportedOperationException("its elements have an instant, and no interval");
        if (last == null && at < 0) throw new UnsupportedOperationException("its time begins at 0");
        Graph graph = terms.createGraph();
        org.apache.jena.graph.Graph read = org.apache.jena.graph.Factory.createDefaultGraph();
        RDFParser.fromString(text(asked.get("graph"))).lang(Lang.NTRIPLES).labelToNode(LabelToNode.createUseLabelAsGiven()).parse(StreamRDFLib.graph(read));
        read.find().forEachRemaining(triple -> graph.add((BlankNodeOrIRI) term(triple.getSubject()), (IRI) term(triple.getPredicate()), term(triple.getObject())));
        put(text(asked.get("stream")), graph, Math.multiplyExact(at, UNIT));
        last = last == null ? at : Math.max(at, last);
    }

    /** Put an element. The rows that come out of it are a report. */
    void put(String stream, Graph graph, long at) {
        rows.clear();
        if (streams.containsKey(stream)) streams.get(stream).put(graph, at);
        if (!rows.isEmpty()) relations.add("{\"rows\": " + rows.toString().replace('\n', ' ') + "}");
    }

    RDFTerm term(Node node) {
        if (node.isURI()) return terms.createIRI(node.getURI());
        if (node.isBlank()) return terms.createBlankNode(node.getBlankNodeLabel());
        if (!node.getLiteralLanguage().isEmpty()) return terms.createLiteral(node.getLiteralLexicalForm(), node.getLiteralLanguage());
        return terms.createLiteral(node.getLiteralLexicalForm(), terms.createIRI(node.getLiteralDatatypeURI()));
    }

    static JsonObject row(Binding binding) {
        JsonObject row = new JsonObject();
        for (Var variable : binding.variables()) if (binding.value(variable) != null) row.put(variable.name(), json(binding.value(variable)));
        return row;
    }

    static JsonObject json(RDFTerm value) {
        JsonObject term = new JsonObject();
        term.put("type", value instanceof Literal ? "literal" : value instanceof IRI ? "uri" : "bnode");
        term.put("value", value instanceof Literal ? ((Literal) value).getLexicalForm() : value instanceof IRI ? ((IRI) value).getIRIString() : ((BlankNode) value).uniqueReference());
        if (value instanceof Literal) ((Literal) value).getLanguageTag().ifPresentOrElse(tag -> term.put("xml:lang", tag), () -> term.put("datatype", ((Literal) value).getDatatype().getIRIString()));
        return term;
    }

    static String text(JsonValue value) { return value.getAsString().value(); }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        org.apache.log4j.Logger.getRootLogger().setLevel(org.apache.log4j.Level.WARN);
        YasperHarness harness = new YasperHarness();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line, command = "", reply; !command.equals("stop") && (line = lines.readLine()) != null; out.println(reply + "}")) {
            JsonObject asked = JSON.parse(line);
            command = text(asked.get("command"));
            if (command.equals("register")) harness = new YasperHarness();
            reply = "{\"seq\": " + asked.get("seq") + ", \"reply\": ";
            try {
                reply += command.equals("stop") ? "\"result\"" : "\"result\", " + harness.reply(command, asked);
            } catch (Exception | Error broken) {
                String refusal = broken instanceof UnsupportedOperationException ? broken.getMessage() : null;
                if (broken instanceof OutOfOrderElementException) refusal = "it takes no element before the time of its last report";
                if (broken instanceof ArithmeticException) refusal = "its clock has 64 bits";
                reply += refusal == null ? "\"error\", \"context\": " + new JsonString("" + broken) : "\"unsupported\", \"reason\": " + new JsonString(refusal);
            }
        }
        System.exit(0);
    }
}
