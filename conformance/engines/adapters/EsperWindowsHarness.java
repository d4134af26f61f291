// The windows of Esper, by the lines of WindowLines.java: `java EsperWindowsHarness`.
//
// A query is a module in EPL, in a runtime of its own on external time, which is moved on before each element and at the end.
//
// - `time`: windows that tumble are time batches with the reference point 0. Others are an overlapping context, as Esper's
//   documentation has it: a partition begins every slide, is terminated after the size, and its elements are output then. The
//   context counts from its creation: that is at a multiple of the slide, before the first window that can hold the first element.
//   What is reported at an instant is stated as the window that closes then.
// - `session`: time_accum, which gives all events when none has come for the gap.
// - `tuple`: length_batch.
// - `range` and `rows`: ext_timed, whose time is that of the elements, and length. What they hold is reported after each element.
//
// The views of all but `time` are partitioned by the key. Esper tells at once what the views of several keys give at an instant.

import com.espertech.esper.common.client.*;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.*;
import com.espertech.esper.runtime.client.*;
import java.util.*;
import java.util.stream.*;

class EsperWindowsHarness extends WindowLines {
    static final long MOST_TIMERS = 20_000; // between two elements
    static final Set<String> ROLLING = Set.of("range", "rows"); // kinds of windows that are reported after each element

    final Configuration configuration = new Configuration();
    final Map<String, EPCompiled> compiled = new HashMap<>(); // modules by their text
    final Map<Integer, Long> times = new HashMap<>(); // of the elements, by number
    EPCompiled module;
    EPRuntime runtime;
    EPStatement statement;
    String kind;
    long size, slide;

    EsperWindowsHarness() {
        configuration.getCommon().addEventType("Element", Map.of("number", Integer.class, "key", Integer.class, "at", Long.class));
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
    }

    void query(String kind, long size, long slide) throws Exception {
        this.kind = kind;
        this.size = size;
        this.slide = slide;
        String text = text();
        try {
            if (!compiled.containsKey(text)) compiled.put(text, EPCompilerProvider.getCompiler().compile(text, new CompilerArguments(configuration)));
        } catch (EPCompileException refused) {
            throw new IllegalArgumentException(refused.getMessage());
        }
        module = compiled.get(text);
    }

    String text() {
        String keys = "create context Keys partition by key from Element; @name('windows') context Keys select irstream number, key from Element#";
        return switch (kind) {
            case "session" -> keys + "time_accum(" + size + " milliseconds)";
            case "range" -> keys + "ext_timed(at, " + size + " milliseconds)";
            case "rows" -> keys + "length(" + size + ")";
            case "tuple" -> {
                if (size != slide) throw new IllegalArgumentException("its batches of a length follow each other");
                yield keys + "length_batch(" + size + ")";
            }
            default -> {
                if (size / slide > MOST_TIMERS) throw new IllegalArgumentException(size / slide + " partitions would be open at once");
                String select = "select number from Element";
                yield size == slide
                    ? "@name('windows') " + select + "#time_batch(" + size + " milliseconds, 0L)"
                    : "create context Windows initiated @now and pattern [every timer:interval(" + slide + " milliseconds)] terminated after " + size
                        + " milliseconds; @name('windows') context Windows " + select + "#keepall output snapshot when terminated";
            }
        };
    }

    void element(long at, int number, int key) throws Exception {
        if (runtime == null) start(kind.equals("time") ? Math.floorDiv(Math.subtractExact(at, size), slide) * slide : at);
        if (!ROLLING.contains(kind)) {
            if (at < runtime.getEventService().getCurrentTime()) throw new IllegalArgumentException("its events have the time of the runtime, which does not go back to " + at);
            advance(at);
        }
        times.put(number, at);
        runtime.getEventService().sendEventMap(Map.of("number", number, "key", key, "at", at), "Element");
        if (!ROLLING.contains(kind)) return;
        StringBuilder numbers = new StringBuilder();
        statement.iterator().forEachRemaining(event -> numbers.append(event.get("key").equals(key) ? " " + event.get("number") : ""));
        reportContent(numbers.substring(1));
    }

    void start(long at) throws Exception {
        runtime = EPRuntimeProvider.getRuntime("windows", configuration);
        runtime.getEventService().clockExternal();
        runtime.getEventService().advanceTime(at);
        EPDeployment deployment = runtime.getDeploymentService().deploy(module);
        statement = runtime.getDeploymentService().getStatement(deployment.getDeploymentId(), "windows");
        statement.addListener((added, removed, source, where) -> give(kind.equals("session") ? removed : added));
    }

    void give(EventBean[] events) {
        if (events == null || ROLLING.contains(kind)) return; // only removals: nothing is in the window
        long close = runtime.getEventService().getCurrentTime();
        var ofKeys = Stream.of(events).collect(Collectors.groupingBy(event -> kind.equals("time") ? 0 : event.get("key"), LinkedHashMap::new, Collectors.toList()));
        ofKeys.values().forEach(mine -> {
            String numbers = mine.stream().map(event -> " " + event.get("number")).collect(Collectors.joining());
            switch (kind) {
                case "time" -> report((close - size) + " " + close + numbers);
                case "session" -> report(times.get((Integer) mine.get(0).get("number")) + " " + close + numbers);
                default -> reportContent(numbers.substring(1));
            }
        });
    }

    void end(long at) {
        if (runtime != null && !ROLLING.contains(kind)) advance(at);
    }

    void advance(long at) {
        long gap = Math.subtractExact(at, runtime.getEventService().getCurrentTime());
        if (kind.equals("time") && size != slide && gap / slide > MOST_TIMERS) throw new IllegalArgumentException("a gap of " + gap + " ms has " + gap / slide + " partitions, each with a timer of its own");
        if (gap > 0) runtime.getEventService().advanceTimeSpan(at);
    }

    void close() {
        if (runtime != null) runtime.destroy();
        runtime = null;
        times.clear();
    }

    public static void main(String[] arguments) throws Exception {
        new EsperWindowsHarness().serve();
    }
}
