// CQELS 1.x behind the harness protocol: `java -cp CLASSPATH CqelsHarness.java TOLERANCE`. The classpath is the engine's own; the
// Jena on it reads and writes the JSON here, too. One engine answers the queries of all cases. It cannot drop a query, so its Esper
// is told to drop the windows of the query before: they take no further element.
//
// The engine knows only the wall clock, so the stream is replayed on it. A unit of its time is a second, of two, where all
// durations of the query are whole seconds, else a ms, of 200. It is told a RANGE longer, and a SLIDE shorter, by TOLERANCE units:
// an element at the very instant of a border is on its side of it if it comes late by less. A case in which one comes as late
// or later, or lies between two units, is given up, and so answers are told at the end. FILTERs are moved behind their STREAM, of
// which the engine takes the triple patterns and leaves out the rest without a word.

import com.espertech.esper.client.EPServiceProviderManager;
import com.hp.hpl.jena.graph.*;
import com.hp.hpl.jena.query.Query;
import com.hp.hpl.jena.rdf.model.AnonId;
import com.hp.hpl.jena.sparql.syntax.*;
import com.hp.hpl.jena.sparql.util.NodeFactory;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import org.deri.cqels.engine.*;
import org.deri.cqels.lang.cqels.*;
import org.openjena.atlas.json.*;

public class CqelsHarness {
    static final Pattern STATEMENT = Pattern.compile("(\\S+) (\\S+) (\"(?:[^\"\\\\]|\\\\.)*\"\\S*|\\S+) \\.");
    static final Pattern RANGE = Pattern.compile("\\[RANGE (\\d+)(ms|[sm])(?: SLIDE (\\d+)(ms|[sm])| (TUMBLING))?");

    final double tolerance;
    final Path folder = Files.createTempDirectory("cqels-");
    final ExecContext context = new ExecContext(folder.toString(), true);
    final List<String> relations = new ArrayList<>();
    final JsonArray rows = new JsonArray(); // since the last element
    long unit, lasts; // of a unit of time: the ms of the suite, and of the wall clock
    Long first, latest, began, sent; // the instants of two elements; when the first was sent, and the latest triple, in ns

    CqelsHarness(double tolerance) throws IOException {
        this.tolerance = tolerance; // and a query over a stream of ours, so that all code is there before time counts
        context.registerSelect("SELECT ?x ?z WHERE { STREAM <urn:warm> [RANGE 1s SLIDE 1s] { ?x <urn:p> ?y . ?y <urn:q> ?z } FILTER (?z > 1) }").register(mapping -> mapping.vars());
        for (int i = 0; i < 200; i++) send("urn:warm", "<urn:a> <urn:p> <urn:b" + i + "> .\n<urn:b" + i + "> <urn:q> \"" + i + "\"^^<http://www.w3.org/2001/XMLSchema#integer> .");
    }

    void register(JsonObject asked) throws Exception {
        EPServiceProviderManager.getDefaultProvider().getEPAdministrator().destroyAllStatements();
        relations.clear();
        rows.clear();
        first = latest = null;
        String text = text(asked.get("query"));
        boolean seconds = RANGE.matcher(text).find() && RANGE.matcher(text).results().noneMatch(found -> "ms".equals(found.group(2)) || "ms".equals(found.group(4)));
        unit = seconds ? 1000 : 1;
        long late = Math.round(tolerance * (lasts = seconds ? 2000 : 200));
        text = RANGE.matcher(text).replaceAll(found -> {
            long range = wall(found.group(1), found.group(2)), slide = found.group(3) != null ? wall(found.group(3), found.group(4)) : found.group(5) != null ? range : 0;
            return "[RANGE " + (range + late) + "ms" + (slide == 0 ? "" : " SLIDE " + (slide - late) + "ms");
        });
        if (asked.hasKey("static")) throw new UnsupportedOperationException("its static data are files");
        try {
            Query query = new Query();
            new ParserCQELS().parse(query, text);
            hoist((ElementGroup) query.getQueryPattern());
            if (query.isSelectType()) context.policy().registerSelectQuery(query).register(mapping ->
                answer(query.getResultVars(), query.getProjectVars().stream().map(variable -> mapping.get(variable) < 0 ? null : context.engine().decode(mapping.get(variable))).toList()));
            else context.policy().registerConstructQuery(query).register(new ConstructListener(context) {
                public void update(List<Triple> graph) { for (Triple triple : graph) answer(List.of("subject", "predicate", "object"), List.of(triple.getSubject(), triple.getPredicate(), triple.getObject())); }
            });
        } catch (RuntimeException | Error refused) {
            throw new UnsupportedOperationException("it does not take the query: " + refused);
        }
    }

    /** Moves the FILTERs of STREAMs behind them. */
    static void hoist(ElementGroup group) {
        for (Element element : new ArrayList<>(group.getElements())) if (element instanceof ElementStreamGraph) {
            List<Element> inside = ((ElementGroup) ((ElementStreamGraph) element).getElement()).getElements();
            for (Element inner : new ArrayList<>(inside))
                if (inner instanceof ElementFilter && inside.remove(inner)) group.addElement(inner);
                else if (!(inner instanceof ElementPathBlock)) throw new IllegalArgumentException("within STREAM it takes triple patterns and filters, and no " + inner.getClass().getSimpleName().replaceAll("Element|Named", "").toUpperCase(Locale.ROOT)); // GROUP, OPTIONAL, GRAPH
        }
    }

    void push(JsonObject asked) throws Exception {
        long at = asked.get("at").getAsNumber().value().longValue(), since = Math.subtractExact(at, first == null ? at : first);
        if (asked.hasKey("end") || text(asked.get("graph")).isBlank()) throw new UnsupportedOperationException("its elements are triples that have an instant");
        if (first != null && at < latest) throw new UnsupportedOperationException("on the wall clock no element comes late");
        if (since % unit != 0) throw new UnsupportedOperationException("it is replayed by the second, and this element is between two");
        if (since / unit > (unit == 1 ? 150 : 60)) throw new UnsupportedOperationException("its replay takes too long");
        if (first == null) began = System.nanoTime();
        first = (latest = at) - since;
        long due = began + since / unit * lasts * 1_000_000;
        for (long left; (left = due - System.nanoTime()) > 0; ) Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
        send(text(asked.get("stream")), text(asked.get("graph")));
        double late = (sent - due) / 1e6; // less than the tolerance: with one half, an element that is as late could be on either side
        if (late >= tolerance * lasts) throw new UnsupportedOperationException("too slow today: an element came " + Math.round(late) + " ms late, and borders are " + tolerance * lasts + " ms wide");
    }

    void send(String stream, String graph) {
        for (Matcher each = STATEMENT.matcher(graph); each.find(); ) {
            sent = System.nanoTime();
            context.engine().send(Node.createURI(stream), node(each.group(1), stream), node(each.group(2), stream), node(each.group(3), stream));
        }
    }

    void answer(List<String> names, List<Node> terms) {
        JsonObject row = new JsonObject();
        for (int i = 0; i < names.size(); i++) if (terms.get(i) != null) row.put(names.get(i), term(terms.get(i)));
        rows.add(row);
    }

    static JsonObject term(Node node) {
        JsonObject term = new JsonObject();
        term.put("type", node.isURI() ? "uri" : node.isBlank() ? "bnode" : "literal");
        term.put("value", node.isURI() ? node.getURI() : node.isBlank() ? node.getBlankNodeLabel() : node.getLiteralLexicalForm());
        if (node.isLiteral() && !node.getLiteralLanguage().isEmpty()) term.put("xml:lang", node.getLiteralLanguage());
        else if (node.isLiteral() && node.getLiteralDatatypeURI() != null) term.put("datatype", node.getLiteralDatatypeURI());
        return term;
    }

    static Node node(String text, String scope) { return text.startsWith("_:") ? Node.createAnon(new AnonId(scope + text)) : NodeFactory.parseNode(text); }
    static String text(JsonValue value) { return value.getAsString().value(); }
    long wall(String number, String of) { return Math.multiplyExact(Long.parseLong(number), of.equals("ms") ? 1L : of.equals("s") ? 1000 : 60_000) / unit * lasts; }

    String reply(String command, JsonObject asked) throws Exception {
        if (command.equals("start")) return "\"protocol\": 1, \"engine\": \"cqels\", \"version\": \"1.0.0\"";
        if (command.equals("register")) register(asked);
        if (command.equals("push")) push(asked);
        if (!rows.isEmpty()) relations.add("{\"rows\": " + rows.toString().replace('\n', ' ') + "}");
        rows.clear();
        return "\"relations\": [" + (command.equals("end") ? String.join(", ", relations) : "") + "]";
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        CqelsHarness harness = new CqelsHarness(Double.parseDouble(arguments[0]));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line, command = "", reply; !command.equals("stop") && (line = lines.readLine()) != null; out.println(reply + "}")) {
            JsonObject asked = JSON.parse(line);
            command = text(asked.get("command"));
            reply = "{\"seq\": " + asked.get("seq") + ", \"reply\": ";
            try {
                reply += command.equals("stop") ? "\"result\"" : "\"result\", " + harness.reply(command, asked);
            } catch (Exception | Error broken) {
                reply += broken instanceof UnsupportedOperationException ? "\"unsupported\", \"reason\": " + new JsonString(broken.getMessage()) : "\"error\", \"context\": " + new JsonString("" + broken);
            }
        }
        ExecContext.deleteDir(harness.folder.toFile());
        System.exit(0);
    }
}
