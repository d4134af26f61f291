// The windows of Esper, by the lines of WindowLines.java: `java EsperWindowsHarness`.
//
// A query is a module in EPL, in a runtime of its own on external time. Windows that tumble are time batches with the reference
// point 0. Others are an overlapping context, as Esper's documentation has it: a partition begins every slide, is terminated
// after the size, and its elements are output then. The context counts from its creation: that is at a multiple of the slide,
// before the first window that can hold the first element. What is reported at an instant is stated as the window that closes
// then. Time is moved on before each element and at the end.

import com.espertech.esper.common.client.*;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.*;
import com.espertech.esper.runtime.client.*;
import java.util.*;
import java.util.stream.*;

class EsperWindowsHarness extends WindowLines {
    static final long MOST_TIMERS = 20_000; // between two elements

    final Configuration configuration = new Configuration();
    final Map<String, EPCompiled> compiled = new HashMap<>(); // statements by their text
    EPCompiled statement;
    EPRuntime runtime;
    long size, slide;
    boolean hasElements;

    EsperWindowsHarness() {
        configuration.getCommon().addEventType("Element", Map.of("number", Integer.class));
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
    }

    void query(String kind, long size, long slide) throws Exception {
        this.size = size;
        this.slide = slide;
        if (size / slide > MOST_TIMERS) throw new IllegalArgumentException(size / slide + " partitions would be open at once");
        String select = "select number from Element";
        String batch = "@name('windows') " + select + "#time_batch(" + size + " milliseconds, 0L)";
        String context = "create context Windows initiated @now and pattern [every timer:interval(" + slide + " milliseconds)] terminated after " + size + " milliseconds;";
        String text = size == slide ? batch : context + "@name('windows') context Windows " + select + "#keepall output snapshot when terminated";
        try {
            if (!compiled.containsKey(text)) compiled.put(text, EPCompilerProvider.getCompiler().compile(text, new CompilerArguments(configuration)));
        } catch (EPCompileException refused) {
            throw new IllegalArgumentException(refused.getMessage());
        }
        statement = compiled.get(text);
    }

    void element(long at, int number, int key) throws Exception {
        if (!hasElements) start(Math.floorDiv(Math.subtractExact(at, size), slide) * slide);
        hasElements = true;
        if (at < runtime.getEventService().getCurrentTime()) throw new IllegalArgumentException("its events have the time of the runtime, which does not go back to " + at);
        advance(at);
        runtime.getEventService().sendEventMap(Map.of("number", number), "Element");
    }

    void start(long at) throws Exception {
        runtime = EPRuntimeProvider.getRuntime("windows", configuration);
        runtime.getEventService().clockExternal();
        runtime.getEventService().advanceTime(at);
        EPDeployment deployment = runtime.getDeploymentService().deploy(statement);
        runtime.getDeploymentService().getStatement(deployment.getDeploymentId(), "windows").addListener((added, removed, source, where) -> {
            if (added == null) return; // only removals: nothing is in the window
            long close = where.getEventService().getCurrentTime();
            String numbers = Stream.of(added).map(event -> " " + event.get("number")).collect(Collectors.joining());
            report((close - size) + " " + close + numbers);
        });
    }

    void end(long at) {
        if (runtime != null) advance(at);
    }

    void advance(long at) {
        long gap = Math.subtractExact(at, runtime.getEventService().getCurrentTime());
        if (size != slide && gap / slide > MOST_TIMERS) throw new IllegalArgumentException("a gap of " + gap + " ms has " + gap / slide + " partitions, each with a timer of its own");
        if (gap > 0) runtime.getEventService().advanceTimeSpan(at);
    }

    void close() {
        if (runtime != null) runtime.destroy();
        runtime = null;
        hasElements = false;
    }

    public static void main(String[] arguments) throws Exception {
        new EsperWindowsHarness().serve();
    }
}
