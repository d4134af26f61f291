// The windows of Flink's DataStream API, by the lines of WindowLines.java: `java FlinkWindowsHarness LATENESS fire|purge`.
//
// A query is one window operator in the harness with which Flink tests its own. After each element that has the greatest time so
// far, a watermark of this time - 1 follows, as WatermarkStrategy.forMonotonousTimestamps has it. At the end comes the watermark
// of an end of input. The trigger is EventTimeTrigger; `purge` wraps it in PurgingTrigger.
//
// A late element makes its windows fire at once. They are given with those that the next element closes: so it is in SPEC.md,
// where what an element changes is seen when the next one comes (WIN-8), and windows of several keys are in the order of the keys.

import java.time.Duration;
import java.util.*;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeinfo.*;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.*;
import org.apache.flink.streaming.api.windowing.triggers.*;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.operators.windowing.WindowOperatorBuilder;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.util.Collector;

class FlinkWindowsHarness extends WindowLines {
    static final long MOST_WINDOWS = 10_000; // that an element may be in

    final Duration lateness;
    final boolean isPurging;
    long greatest;
    List<String> late; // windows that the last element made fire
    KeyedOneInputStreamOperatorTestHarness<Integer, int[], String> operator; // from {number, key} to what is reported

    FlinkWindowsHarness(long lateness, boolean isPurging) {
        this.lateness = Duration.ofMillis(lateness);
        this.isPurging = isPurging;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // sessions are assigned to any object, and the others too
    void query(String kind, long size, long slide) throws Exception {
        if (kind.equals("time") && size / slide > MOST_WINDOWS) throw new IllegalArgumentException("each element would be in " + size / slide + " windows, each with a state of its own");
        WindowAssigner<Object, TimeWindow> assigner = switch (kind) {
            case "session" -> (WindowAssigner) EventTimeSessionWindows.withGap(Duration.ofMillis(size));
            case "time" -> size == slide
                ? TumblingEventTimeWindows.of(Duration.ofMillis(size))
                : SlidingEventTimeWindows.of(Duration.ofMillis(size), Duration.ofMillis(slide));
            default -> throw new IllegalArgumentException("it has windows over time, and sessions");
        };
        Trigger<Object, TimeWindow> trigger = EventTimeTrigger.create();
        var builder = new WindowOperatorBuilder<int[], Integer, TimeWindow>(
            assigner, isPurging ? PurgingTrigger.of(trigger) : trigger, new ExecutionConfig(),
            PrimitiveArrayTypeInfo.INT_PRIMITIVE_ARRAY_TYPE_INFO, element -> element[1], BasicTypeInfo.INT_TYPE_INFO);
        if (!lateness.isZero()) builder.allowedLateness(lateness);
        operator = new KeyedOneInputStreamOperatorTestHarness<>(builder.process(new Content()), element -> element[1], BasicTypeInfo.INT_TYPE_INFO);
        operator.open();
        greatest = Long.MIN_VALUE;
        late = List.of();
    }

    void element(long at, int number, int key) throws Exception {
        if (at == Long.MIN_VALUE) throw new IllegalArgumentException("the least integer of 64 bits stands for an element without a time");
        operator.processElement(new int[] {number, key}, at);
        List<String> fired = take();
        Collections.reverse(fired); // an element is assigned to the latest of its windows first
        if (at > greatest) operator.processWatermark(at - 1);
        greatest = Math.max(greatest, at);
        reportAll();
        late = fired;
    }

    void end(long at) throws Exception {
        operator.processWatermark(Long.MAX_VALUE);
        reportAll();
    }

    void reportAll() {
        late.forEach(this::report);
        take().forEach(this::report);
    }

    List<String> take() {
        List<String> windows = operator.extractOutputValues();
        operator.getOutput().clear();
        return windows;
    }

    void close() throws Exception {
        if (operator != null) operator.close();
        operator = null;
    }

    static class Content extends ProcessWindowFunction<int[], String, Integer, TimeWindow> {
        static final long serialVersionUID = 1;

        public void process(Integer key, Context context, Iterable<int[]> elements, Collector<String> out) {
            StringBuilder window = new StringBuilder(context.window().getStart() + " " + context.window().getEnd());
            elements.forEach(element -> window.append(" ").append(element[0]));
            out.collect(window.toString());
        }
    }

    public static void main(String[] arguments) throws Exception {
        new FlinkWindowsHarness(Long.parseLong(arguments[0]), arguments[1].equals("purge")).serve();
    }
}
