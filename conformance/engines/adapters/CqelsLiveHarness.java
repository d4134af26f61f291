// CQELS 1.x on the wall clock behind the harness protocol, for runs by the clock: `java -cp CLASSPATH CqelsLiveHarness.java ANSWER`.
// The classpath is the engine's own; the Jena on it reads and writes the JSON here, too. One query a process.
//
// A triple is given to the engine when it is pushed; the engine knows only the clock. As in YABench's runner a second passes between
// registering the query and the first element. The engine answers while a triple is given to it, one row after the other. ANSWER is
// `triple` if the rows of one triple are one answer, and `row` if each row is one, as in YABench's runner. An answer is told with the
// reply, and with its instant: that of the first element, and the time by the clock since then.

import com.hp.hpl.jena.graph.*;
import com.hp.hpl.jena.query.Query;
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

public class CqelsLiveHarness {
    static final long SETTLING = 1000; // ms between the query and the first element
    static final Pattern STATEMENT = Pattern.compile("(\\S+) (\\S+) (\"(?:[^\"\\\\]|\\\\.)*\"\\S*|\\S+) \\.");

    final boolean isEachRowAnAnswer;
    final Path folder = Files.createTempDirectory("cqels-");
    final ExecContext context = new ExecContext(folder.toString(), true);
    final List<String> relations = new ArrayList<>();
    final JsonArray rows = new JsonArray(); // those since the last answer
    long clockAtFirst = -1; // the clock at the first element, in ms
    long firstInstant; // the instant of the first element

    CqelsLiveHarness(boolean isEachRowAnAnswer) throws IOException { this.isEachRowAnAnswer = isEachRowAnAnswer; }

    void register(JsonObject asked) throws Exception {
        try {
            if (asked.hasKey("static")) { // CQELS loads static data from files only
                Path file = Files.createTempFile("cqels-", ".nt");
                Files.writeString(file, text(asked.get("static")));
                context.loadDefaultDataset(file.toString());
                Files.delete(file);
            }
            Query query = new Query();
            new ParserCQELS().parse(query, text(asked.get("query")));
            hoist((ElementGroup) query.getQueryPattern());
            if (query.isSelectType()) context.policy().registerSelectQuery(query).register(mapping ->
                addRow(row(query.getResultVars(), query.getProjectVars().stream().map(variable -> mapping.get(variable) < 0 ? null : context.engine().decode(mapping.get(variable))).toList())));
            else context.policy().registerConstructQuery(query).register(new ConstructListener(context) {
                public void update(List<Triple> graph) { for (Triple triple : graph) addTriple(row(List.of("subject", "predicate", "object"), List.of(triple.getSubject(), triple.getPredicate(), triple.getObject()))); }
            });
        } catch (RuntimeException | Error refused) {
            throw new UnsupportedOperationException("it does not take the query or its static data: " + refused);
        }
        Thread.sleep(SETTLING);
    }

    /** Moves filters behind the STREAM that they are in. Within STREAM the engine reads triple patterns and silently ignores all else. So filters are moved, and anything else is refused. At a UNION or a subquery its compiler fails without saying why, so these are refused at the top of WHERE, too. */
    static void hoist(ElementGroup group) {
        for (Element element : new ArrayList<>(group.getElements())) {
            if (element instanceof ElementUnion || element instanceof ElementSubQuery) throw refusal("next to STREAM, at the top of WHERE, it takes patterns and filters", element);
            if (!(element instanceof ElementStreamGraph)) continue;
            List<Element> inside = ((ElementGroup) ((ElementStreamGraph) element).getElement()).getElements();
            for (Element inner : new ArrayList<>(inside))
                if (inner instanceof ElementFilter && inside.remove(inner)) group.addElement(inner);
                else if (!(inner instanceof ElementPathBlock)) throw refusal("within STREAM it takes triple patterns and filters", inner);
        }
    }

    static IllegalArgumentException refusal(String taken, Element element) {
        return new IllegalArgumentException(taken + ", and no " + element.getClass().getSimpleName().replaceAll("Element|Named", "").toUpperCase(Locale.ROOT)); // UNION, SUBQUERY, GROUP, OPTIONAL, GRAPH
    }

    void push(JsonObject asked) {
        if (clockAtFirst < 0) {
            firstInstant = asked.get("at").getAsNumber().value().longValue();
            clockAtFirst = System.currentTimeMillis();
        }
        String stream = text(asked.get("stream"));
        for (Matcher each = STATEMENT.matcher(text(asked.get("graph"))); each.find(); endAnswer())
            context.engine().send(Node.createURI(stream), NodeFactory.parseNode(each.group(1)), NodeFactory.parseNode(each.group(2)), NodeFactory.parseNode(each.group(3)));
    }

    /** Ends an answer: keeps the rows since the last one as a relation, with its instant. If there are none, there is no answer. */
    void endAnswer() {
        if (rows.isEmpty()) return;
        relations.add("{\"rows\": " + rows.toString().replace('\n', ' ') + ", \"instant\": " + (firstInstant + System.currentTimeMillis() - clockAtFirst) + "}");
        rows.clear();
    }

    /** Makes a row. A term that is null is left out: its variable is unbound. */
    static JsonObject row(List<String> names, List<Node> terms) {
        JsonObject row = new JsonObject();
        for (int i = 0; i < names.size(); i++) if (terms.get(i) != null) row.put(names.get(i), term(terms.get(i)));
        return row;
    }

    /** Adds a row to the answer. */
    void addRow(JsonObject row) {
        rows.add(row);
        if (isEachRowAnAnswer) endAnswer();
    }

    /** Adds a triple of CONSTRUCT to the answer, once: the answer is a set. */
    void addTriple(JsonObject row) {
        for (JsonValue each : rows) if (each.equals(row)) return;
        addRow(row);
    }

    static JsonObject term(Node node) {
        JsonObject term = new JsonObject();
        term.put("type", node.isURI() ? "uri" : node.isBlank() ? "bnode" : "literal");
        term.put("value", node.isURI() ? node.getURI() : node.isBlank() ? node.getBlankNodeLabel() : node.getLiteralLexicalForm());
        if (node.isLiteral() && !node.getLiteralLanguage().isEmpty()) term.put("xml:lang", node.getLiteralLanguage());
        else if (node.isLiteral() && node.getLiteralDatatypeURI() != null) term.put("datatype", node.getLiteralDatatypeURI());
        return term;
    }

    static String text(JsonValue value) { return value.getAsString().value(); }

    String reply(String command, JsonObject asked) throws Exception {
        if (command.equals("start")) return "\"protocol\": 1, \"engine\": \"cqels\", \"version\": \"1.0.0\"";
        if (command.equals("register")) register(asked);
        if (command.equals("push")) push(asked);
        String told = "\"relations\": [" + String.join(", ", relations) + "]";
        relations.clear();
        return told;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 1 || !List.of("triple", "row").contains(arguments[0])) {
            System.err.println("ANSWER is `triple` or `row`, and not `" + String.join(" ", arguments) + "`");
            System.exit(2);
        }
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        CqelsLiveHarness harness = new CqelsLiveHarness(arguments[0].equals("row"));
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
