// C-SPARQL2, rsp4j's C-SPARQL, behind the harness protocol: `java -cp CLASSPATH Csparql2Harness.java`. The classpath is that of
// rsp4j's module csparql2; the Jena on it reads and writes the JSON and the triples here, too.
//
// The engine runs on the time of its elements, and evaluates inside the call that puts one. It answers every slide, counted from
// its first element. That is one of ours, so long before the others that no window holds both, and such that windows open at
// multiples of the slide. At the end an element of ours comes at each slide, until the last windows have closed. What is ours has
// no triples.

import java.io.*;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.regex.*;
import org.apache.jena.atlas.json.*;
import org.apache.jena.graph.*;
import org.apache.jena.irix.IRIs;
import org.apache.jena.riot.*;
import org.apache.jena.riot.lang.LabelToNode;
import org.apache.jena.riot.system.StreamRDFLib;
import org.apache.jena.sparql.algebra.Table;
import org.streamreasoning.rsp4j.api.engine.config.EngineConfiguration;
import org.streamreasoning.rsp4j.api.sds.SDSConfiguration;
import org.streamreasoning.rsp4j.api.stream.data.DataStream;
import org.streamreasoning.rsp4j.csparql2.engine.*;
import org.streamreasoning.rsp4j.esper.operators.s2r.epl.RuntimeManager;
import org.streamreasoning.rsp4j.io.DataStreamImpl;

public class Csparql2Harness {
    static final Pattern WINDOW = Pattern.compile("\\[RANGE (P[0-9A-Z.]+) STEP (P[0-9A-Z.]+)\\]");
    static final Set<String> ITS_OWN = Set.of("eventTime", "processingTime"); // variables, and ends of predicates, of its time stamps
    // The settings of the engine's own examples, without entailment.
    static final String SETTINGS = "rsp_engine.time=EventTime\nrsp_engine.base_uri=http://streamreasoning.org/csparql/\nrsp_engine.stream.item.class=org.streamreasoning.rsp4j.csparql2.stream.GraphStreamSchema\nrsp_engine.on_window_close=true\nrsp_engine.non_empty_content=true\nrsp_engine.tick=TIME_DRIVEN\nrsp_engine.report_grain=SINGLE\nrsp_engine.partialwindow=false\njasper.entailment=NONE\n";

    final Map<String, DataStream<Graph>> streams = new LinkedHashMap<>();
    final List<List<String>> relations = new ArrayList<>(); // sent at the end, when it is known that it takes all elements
    long slide = 1, step, reach; // the least common multiple of the slides, their greatest divisor, and the longest window, in ms of the suite
    Long origin, last; // the instants of our first element and of the latest element

    String reply(String command, JsonObject asked) throws Exception {
        if (command.equals("start")) return "\"protocol\": 1, \"engine\": \"csparql2\", \"version\": \"2.0.0\"";
        if (command.equals("register")) register(text(asked.get("query")), asked);
        if (command.equals("push")) push(asked);
        if (command.equals("end") && last != null) for (long at = last - Math.floorMod(last - origin, step) + step; at <= last + reach; at += step) ours(at);
        relations.removeIf(List::isEmpty); // an evaluation without solutions sends nothing
        return "\"relations\": [" + (command.equals("end") ? String.join(", ", relations.stream().map(rows -> "{\"rows\": " + rows + "}").toList()) : "") + "]";
    }

    void register(String query, JsonObject asked) throws Exception {
        forgetEsper();
        for (Matcher found = WINDOW.matcher(query); found.find(); ) {
            long size = Duration.parse(found.group(1)).toMillis(), beta = Duration.parse(found.group(2)).toMillis();
            reach = Math.max(reach, size);
            slide = slide / gcd(slide, beta) * beta;
            step = gcd(step, beta);
        }
        Path settings = Files.writeString(Files.createTempFile("csparql2", ".properties"), SETTINGS);
        settings.toFile().deleteOnExit();
        if (asked.hasKey("static")) query = query.replaceFirst("FROM NAMED WINDOW", "FROM <" + Files.writeString(Files.createTempFile("static", ".nt"), text(asked.get("static"))).toUri() + "> FROM NAMED WINDOW");
        CSPARQLEngine engine = new CSPARQLEngine(0, new EngineConfiguration(settings.toString()));
        for (JsonValue name : asked.get("streams").getAsArray()) streams.put(text(name), engine.register(new DataStreamImpl<Graph>(IRIs.resolve(text(name)))));
        try {
            JenaContinuousQueryExecution execution = (JenaContinuousQueryExecution) engine.register(query, new SDSConfiguration(settings.toString()));
            execution.addObserver((source, answer) -> add(answer));
            ((Observable) execution.getSDS()).addObserver((source, now) -> relations.add(new ArrayList<>())); // called before it evaluates
        } catch (RuntimeException refused) {
            throw new UnsupportedOperationException("it does not take the query: " + refused);
        }
    }

    /** Drop the Esper of the case before, with its clock and its streams. The engine keeps one for all of its instances. */
    static void forgetEsper() throws Exception {
        RuntimeManager.getCEP().destroy();
        for (String kept : List.of("cep", "cepAdm", "cepRT")) {
            Field field = RuntimeManager.class.getDeclaredField(kept);
            field.setAccessible(true);
            field.set(null, null);
        }
    }

    void push(JsonObject asked) {
        long at = asked.get("at").getAsNumber().value().longValue();
        if (asked.hasKey("end")) throw new UnsupportedOperationException("its elements have an instant, and no interval");
        Graph graph = Factory.createDefaultGraph();
        RDFParser.fromString(text(asked.get("graph"))).lang(Lang.NTRIPLES).labelToNode(LabelToNode.createUseLabelAsGiven()).parse(StreamRDFLib.graph(graph));
        if (last == null) ours(origin = Math.floorMod(reach, slide) + (Math.floorDiv(at, slide) - reach / slide - 2) * slide);
        if (streams.containsKey(text(asked.get("stream")))) streams.get(text(asked.get("stream"))).put(graph, time(at));
        if (last == null) relations.clear(); // they are about our own element
        last = last == null ? at : Math.max(at, last);
    }

    /** Let time go on to an instant, by an element without triples on each stream. */
    void ours(long at) {
        for (DataStream<Graph> stream : streams.values()) stream.put(Factory.createDefaultGraph(), time(at));
    }

    /** The time of the engine, which begins at 0: our first element comes a slide after it. */
    long time(long at) { return Math.addExact(Math.subtractExact(at, origin), slide); }

    /** Add what the engine sends for a solution to the report: a table of a row, or a graph that CONSTRUCT makes. */
    void add(Object answer) {
        List<String> report = relations.get(relations.size() - 1);
        if (answer instanceof Table) ((Table) answer).rows().forEachRemaining(binding -> {
            JsonObject row = new JsonObject();
            binding.vars().forEachRemaining(name -> row.put(name.getVarName(), term(binding.get(name))));
            ITS_OWN.forEach(row::remove);
            report.add(row.toString().replace('\n', ' '));
        });
        else ((Graph) answer).find().forEachRemaining(triple -> {
            String row = ("{\"subject\": " + term(triple.getSubject()) + ", \"predicate\": " + term(triple.getPredicate()) + ", \"object\": " + term(triple.getObject()) + "}").replace('\n', ' ');
            if (!ITS_OWN.contains(triple.getPredicate().getLocalName()) && !report.contains(row)) report.add(row);
        });
    }

    static JsonObject term(Node node) {
        JsonObject term = new JsonObject();
        term.put("type", node.isLiteral() ? "literal" : node.isURI() ? "uri" : "bnode");
        term.put("value", node.isLiteral() ? node.getLiteralLexicalForm() : node.isURI() ? node.getURI() : node.getBlankNodeLabel());
        if (node.isLiteral() && !node.getLiteralLanguage().isEmpty()) term.put("xml:lang", node.getLiteralLanguage());
        else if (node.isLiteral()) term.put("datatype", node.getLiteralDatatypeURI());
        return term;
    }

    static String text(JsonValue value) { return value.getAsString().value(); }
    static long gcd(long a, long b) { return b == 0 ? a : gcd(b, a % b); }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        org.apache.log4j.BasicConfigurator.configure();
        org.apache.log4j.Logger.getRootLogger().setLevel(org.apache.log4j.Level.WARN);
        Csparql2Harness harness = new Csparql2Harness();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line, command = "", reply; !command.equals("stop") && (line = lines.readLine()) != null; out.println(reply + "}")) {
            JsonObject asked = JSON.parse(line);
            command = text(asked.get("command"));
            if (command.equals("register")) harness = new Csparql2Harness();
            reply = "{\"seq\": " + asked.get("seq") + ", \"reply\": ";
            try {
                reply += command.equals("stop") ? "\"result\"" : "\"result\", " + harness.reply(command, asked);
            } catch (Exception | Error broken) {
                String refusal = broken instanceof UnsupportedOperationException ? broken.getMessage() : null;
                if (broken instanceof ArithmeticException) refusal = "its clock has 64 bits";
                reply += refusal == null ? "\"error\", \"context\": " + new JsonString("" + broken) : "\"unsupported\", \"reason\": " + new JsonString(refusal);
            }
        }
        System.exit(0);
    }
}
