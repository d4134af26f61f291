(** What a stream can tell apart: for each two values of a field, a stream on which the contents differ (the outputs,
    where the field is about §7 or §8; the output instants, for [instant]; the borders, for [session_border]).  Coq computes both.

    [of_F v] is what comes of the value [v] of the field F, all else being equal.  An example has the name of its field
    and of its two values. *)
From Coq Require Import ZArith List.
From RefEngine Require Import Definitions Bodies Firings Alike.
Import ListNotations.
Open Scope Z_scope.

(** * A semantics by the values that are not plain *)

Inductive Condition := Close | Change | NonEmpty | Periodic.
Inductive Value :=
  | the_t0 (v : T0) | the_closure (v : Closure) | the_slide (v : Slide) | the_partial (v : Partial)
  | the_report (v : list Condition) | the_close_rule (v : CloseRule) | the_period (λ : Z) (v : Anchor)
  | the_baseline (v : Baseline) | the_change_scope (v : ChangeScope) | the_expiry (v : ExpirySeen) | the_missed (v : Missed)
  | the_tick (v : Tick) | the_trigger (v : Trigger) | the_collection (v : Collection) | the_consumption (v : Consumption)
  | the_r2s (v : R2S) | the_base (v : Base) | the_empty (v : Empty) | the_horizon (v : Horizon) | the_instant (v : Instant).
Definition is_condition (a b : Condition) : bool :=
  match a, b with Close, Close | Change, Change | NonEmpty, NonEmpty | Periodic, Periodic => true | _, _ => false end.
(** The value that is found first; the plain value if none is. *)
Fixpoint first {A} (vs : list Value) (known : Value -> option A) (plain : A) : A :=
  match vs with [] => plain | v :: rest => match known v with Some x => x | None => first rest known plain end end.
Definition semantics (vs : list Value) : Semantics :=
  let conditions := first vs (fun v => match v with the_report x => Some x | _ => None end) [Close] in
  let has c := existsb (is_condition c) conditions in
  {| t0 := first vs (fun v => match v with the_t0 x => Some x | _ => None end) (At 0);
     closure := first vs (fun v => match v with the_closure x => Some x | _ => None end) RightOpen;
     slide_choice := first vs (fun v => match v with the_slide x => Some x | _ => None end) Stated;
     partial := first vs (fun v => match v with the_partial x => Some x | _ => None end) Suppressed;
     window_close := has Close; content_change := has Change; non_empty := has NonEmpty;
     periodic := if has Periodic
                 then Some (first vs (fun v => match v with the_period λ x => Some (λ, x) | _ => None end) (3, AnchorT0))
                 else None;
     close_rule := first vs (fun v => match v with the_close_rule x => Some x | _ => None end) Reached;
     baseline := first vs (fun v => match v with the_baseline x => Some x | _ => None end) LastReport;
     change_scope := first vs (fun v => match v with the_change_scope x => Some x | _ => None end) ByElements;
     expiry_seen := first vs (fun v => match v with the_expiry x => Some x | _ => None end) Replayed;
     missed := first vs (fun v => match v with the_missed x => Some x | _ => None end) All;
     tick := first vs (fun v => match v with the_tick x => Some x | _ => None end) TupleTick;
     trigger := first vs (fun v => match v with the_trigger x => Some x | _ => None end) AnyOf;
     collection := first vs (fun v => match v with the_collection x => Some x | _ => None end) AsBag;
     consumption := first vs (fun v => match v with the_consumption x => Some x | _ => None end) Unrestricted;
     r2s := first vs (fun v => match v with the_r2s x => Some x | _ => None end) Rstream;
     base := first vs (fun v => match v with the_base x => Some x | _ => None end) Previous;
     empty := first vs (fun v => match v with the_empty x => Some x | _ => None end) Emit;
     horizon := first vs (fun v => match v with the_horizon x => Some x | _ => None end) Flush;
     instant := first vs (fun v => match v with the_instant x => Some x | _ => None end) AtClose;
     lateness := None |}.

(** * Small streams and queries *)

(** Elements, each at an instant and in a batch.  [graph_of] gives the triples of the i-th. *)
Definition elements (graph_of : Z -> list Triple) (instants : list (Z * Z)) : list Element :=
  map (fun x => let '(i, (t, b)) := x in
         {| stream := 1; app := t; until := t; sys := Z.of_nat i + 1; batch := b; graph := graph_of (Z.of_nat i) |})
      (combine (seq 0 (length instants)) instants).
Definition the_same (i : Z) : list Triple := [(1, 1, 1)].
Definition another (i : Z) : list Triple := [(1, 1, i)].
Definition at_instants (ts : list Z) : list Element := elements the_same (map (fun t => (t, 1)) ts).
(** A window of ω that moves by β; [marked]: it triggers (REP-12). *)
Definition window (k : Kind) (ω β : Z) (marked : bool) : Window :=
  {| on := 1; kind := k; size := ω; stated := Some β; unit := PerElement; by_ := []; name := 0; triggers := marked; lag := 0 |}.
Definition over (ws : list Window) : Query :=
  {| windows := ws; registered := Some 1; operator := None; static := []; patterns := []; selected := [] |}.
Definition time_window (ω β : Z) : Query := over [window Time ω β false].

Definition contents_of (vs : list Value) (q : Query) (es : list Element) : list (Z * Z * list Content) :=
  map seen (reports (semantics vs) q es).
Definition outputs_of (vs : list Value) (q : Query) (es : list Element) : list (Z * Z * list Content * Bag) :=
  map (fun e => (seen (report e), rows e)) (evaluate objects (semantics vs) q es).
Ltac apart := vm_compute; discriminate.

(** The reports, with borders, of a window that is reported on its own, each time that its content changes. *)
Definition alone (g : ExactGap) (e : ExpiredSession) (b : SessionBorder) (p : Panes) (l : LateFor) (x : CloseRule) : Firings :=
  {| reported_windows := Every; exact_gap := g; expired_session := e; session_border := b; early_count := None;
     early_period := None; panes := p; late_for := l; watermark_of := Greatest; watermark_delay := 0; expiry_rule := x; clock := OfStream |}.
Definition firings_of (f : Firings) (q : Query) (es : list Element) : list (Z * Z * list Content * list (option (Z * Z)) * bool) :=
  map (fun x => let '(e, b, _) := x in (seen (report e), shown (report e), b)) (evaluate_with objects (semantics [the_report [Change]]) f q es).
Definition sessions (γ : Z) : Query := over [window Session γ 1 false].

(** * The examples *)

(** Four pairs of values differ for tuple-based windows alone: [stream] and [first-reach] are one such pair.
    [kafka-streams] has no origin for these (WIN-7), so it is told apart by time-based windows alone. *)
Definition of_t0 (v : T0) :=
  (contents_of [the_t0 v; the_closure LeftOpen] (time_window 4 6) (at_instants [11; 13; 16; 19; 25]),
   contents_of [the_t0 v; the_closure LeftOpen] (over [window Tuple 2 2 false]) (at_instants [1; 2; 3])).
Definition of_t0_over_time (v : T0) :=
  (contents_of [the_t0 v; the_closure LeftOpen] (time_window 4 6) (at_instants [11; 13; 16; 19; 25]),
   contents_of [the_t0 v; the_closure LeftOpen] (time_window 1 1) (at_instants [0; 0; 1])).
Example t0_At_FirstElement : of_t0 (At 2) <> of_t0 FirstElement. Proof. apart. Qed.
Example t0_At_FirstReach : of_t0 (At 2) <> of_t0 FirstReach. Proof. apart. Qed.
Example t0_At_Registration : of_t0 (At 2) <> of_t0 Registration. Proof. apart. Qed.
Example t0_At_Epoch : of_t0 (At 2) <> of_t0 (Epoch 3). Proof. apart. Qed.
Example t0_At_Coral8 : of_t0 (At 2) <> of_t0 Coral8. Proof. apart. Qed.
Example t0_At_OracleCep : of_t0 (At 2) <> of_t0 OracleCep. Proof. apart. Qed.
Example t0_At_Stream : of_t0 (At 2) <> of_t0 Stream. Proof. apart. Qed.
Example t0_At_Flink : of_t0 (At 2) <> of_t0 Flink. Proof. apart. Qed.
Example t0_At_Storm : of_t0 (At 2) <> of_t0 Storm. Proof. apart. Qed.
Example t0_At_KafkaStreams : of_t0_over_time (At 2) <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_FirstElement_FirstReach : of_t0 FirstElement <> of_t0 FirstReach. Proof. apart. Qed.
Example t0_FirstElement_Registration : of_t0 FirstElement <> of_t0 Registration. Proof. apart. Qed.
Example t0_FirstElement_Epoch : of_t0 FirstElement <> of_t0 (Epoch 3). Proof. apart. Qed.
Example t0_FirstElement_Coral8 : of_t0 FirstElement <> of_t0 Coral8. Proof. apart. Qed.
Example t0_FirstElement_OracleCep : of_t0 FirstElement <> of_t0 OracleCep. Proof. apart. Qed.
Example t0_FirstElement_Stream : of_t0 FirstElement <> of_t0 Stream. Proof. apart. Qed.
Example t0_FirstElement_Flink : of_t0 FirstElement <> of_t0 Flink. Proof. apart. Qed.
Example t0_FirstElement_Storm : of_t0 FirstElement <> of_t0 Storm. Proof. apart. Qed.
Example t0_FirstElement_KafkaStreams : of_t0_over_time FirstElement <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_FirstReach_Registration : of_t0 FirstReach <> of_t0 Registration. Proof. apart. Qed.
Example t0_FirstReach_Epoch : of_t0 FirstReach <> of_t0 (Epoch 3). Proof. apart. Qed.
Example t0_FirstReach_Coral8 : of_t0 FirstReach <> of_t0 Coral8. Proof. apart. Qed.
Example t0_FirstReach_OracleCep : of_t0 FirstReach <> of_t0 OracleCep. Proof. apart. Qed.
Example t0_FirstReach_Stream : of_t0 FirstReach <> of_t0 Stream. Proof. apart. Qed.
Example t0_FirstReach_Flink : of_t0 FirstReach <> of_t0 Flink. Proof. apart. Qed.
Example t0_FirstReach_Storm : of_t0 FirstReach <> of_t0 Storm. Proof. apart. Qed.
Example t0_FirstReach_KafkaStreams : of_t0_over_time FirstReach <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_Registration_Epoch : of_t0 Registration <> of_t0 (Epoch 3). Proof. apart. Qed.
Example t0_Registration_Coral8 : of_t0 Registration <> of_t0 Coral8. Proof. apart. Qed.
Example t0_Registration_OracleCep : of_t0 Registration <> of_t0 OracleCep. Proof. apart. Qed.
Example t0_Registration_Stream : of_t0 Registration <> of_t0 Stream. Proof. apart. Qed.
Example t0_Registration_Flink : of_t0 Registration <> of_t0 Flink. Proof. apart. Qed.
Example t0_Registration_Storm : of_t0 Registration <> of_t0 Storm. Proof. apart. Qed.
Example t0_Registration_KafkaStreams : of_t0_over_time Registration <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_Epoch_Coral8 : of_t0 (Epoch 3) <> of_t0 Coral8. Proof. apart. Qed.
Example t0_Epoch_OracleCep : of_t0 (Epoch 3) <> of_t0 OracleCep. Proof. apart. Qed.
Example t0_Epoch_Stream : of_t0 (Epoch 3) <> of_t0 Stream. Proof. apart. Qed.
Example t0_Epoch_Flink : of_t0 (Epoch 3) <> of_t0 Flink. Proof. apart. Qed.
Example t0_Epoch_Storm : of_t0 (Epoch 3) <> of_t0 Storm. Proof. apart. Qed.
Example t0_Epoch_KafkaStreams : of_t0_over_time (Epoch 3) <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_Coral8_OracleCep : of_t0 Coral8 <> of_t0 OracleCep. Proof. apart. Qed.
Example t0_Coral8_Stream : of_t0 Coral8 <> of_t0 Stream. Proof. apart. Qed.
Example t0_Coral8_Flink : of_t0 Coral8 <> of_t0 Flink. Proof. apart. Qed.
Example t0_Coral8_Storm : of_t0 Coral8 <> of_t0 Storm. Proof. apart. Qed.
Example t0_Coral8_KafkaStreams : of_t0_over_time Coral8 <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_OracleCep_Stream : of_t0 OracleCep <> of_t0 Stream. Proof. apart. Qed.
Example t0_OracleCep_Flink : of_t0 OracleCep <> of_t0 Flink. Proof. apart. Qed.
Example t0_OracleCep_Storm : of_t0 OracleCep <> of_t0 Storm. Proof. apart. Qed.
Example t0_OracleCep_KafkaStreams : of_t0_over_time OracleCep <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_Stream_Flink : of_t0 Stream <> of_t0 Flink. Proof. apart. Qed.
Example t0_Stream_Storm : of_t0 Stream <> of_t0 Storm. Proof. apart. Qed.
Example t0_Stream_KafkaStreams : of_t0_over_time Stream <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_Flink_Storm : of_t0 Flink <> of_t0 Storm. Proof. apart. Qed.
Example t0_Flink_KafkaStreams : of_t0_over_time Flink <> of_t0_over_time KafkaStreams. Proof. apart. Qed.
Example t0_Storm_KafkaStreams : of_t0_over_time Storm <> of_t0_over_time KafkaStreams. Proof. apart. Qed.

Definition of_closure (v : Closure) := contents_of [the_closure v] (time_window 2 2) (at_instants [0; 2]).
Example closure_RightOpen_LeftOpen : of_closure RightOpen <> of_closure LeftOpen. Proof. apart. Qed.
Example closure_RightOpen_Closed : of_closure RightOpen <> of_closure Closed. Proof. apart. Qed.
Example closure_LeftOpen_Closed : of_closure LeftOpen <> of_closure Closed. Proof. apart. Qed.

Definition of_slide (v : Slide) := contents_of [the_slide v] (time_window 2 2) (at_instants [0]).
Example slide_Stated_Ignored : of_slide Stated <> of_slide Ignored. Proof. apart. Qed.

Definition of_partial (v : Partial) := contents_of [the_t0 (At 5); the_partial v] (time_window 3 1) (at_instants [4; 5]).
Example partial_Suppressed_Reported : of_partial Suppressed <> of_partial Reported. Proof. apart. Qed.
Example partial_Suppressed_Clipped : of_partial Suppressed <> of_partial Clipped. Proof. apart. Qed.
Example partial_Reported_Clipped : of_partial Reported <> of_partial Clipped. Proof. apart. Qed.

Definition of_report (v : list Condition) :=
  contents_of [the_report v; the_period 3 (AnchorAt 1); the_tick TimeTick; the_horizon (HorizonAt 30)] (time_window 8 1)
    (at_instants [2; 3; 4; 15; 16]).
Example report_Close_Change : of_report [Close] <> of_report [Change]. Proof. apart. Qed.
Example report_Close_CloseChange : of_report [Close] <> of_report [Close; Change]. Proof. apart. Qed.
Example report_Close_NonEmpty : of_report [Close] <> of_report [NonEmpty]. Proof. apart. Qed.
Example report_Close_CloseNonEmpty : of_report [Close] <> of_report [Close; NonEmpty]. Proof. apart. Qed.
Example report_Close_ChangeNonEmpty : of_report [Close] <> of_report [Change; NonEmpty]. Proof. apart. Qed.
Example report_Close_CloseChangeNonEmpty : of_report [Close] <> of_report [Close; Change; NonEmpty]. Proof. apart. Qed.
Example report_Close_Periodic : of_report [Close] <> of_report [Periodic]. Proof. apart. Qed.
Example report_Close_ClosePeriodic : of_report [Close] <> of_report [Close; Periodic]. Proof. apart. Qed.
Example report_Close_ChangePeriodic : of_report [Close] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_Close_CloseChangePeriodic : of_report [Close] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_Close_NonEmptyPeriodic : of_report [Close] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Close_CloseNonEmptyPeriodic : of_report [Close] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Close_ChangeNonEmptyPeriodic : of_report [Close] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Close_CloseChangeNonEmptyPeriodic : of_report [Close] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Change_CloseChange : of_report [Change] <> of_report [Close; Change]. Proof. apart. Qed.
Example report_Change_NonEmpty : of_report [Change] <> of_report [NonEmpty]. Proof. apart. Qed.
Example report_Change_CloseNonEmpty : of_report [Change] <> of_report [Close; NonEmpty]. Proof. apart. Qed.
Example report_Change_ChangeNonEmpty : of_report [Change] <> of_report [Change; NonEmpty]. Proof. apart. Qed.
Example report_Change_CloseChangeNonEmpty : of_report [Change] <> of_report [Close; Change; NonEmpty]. Proof. apart. Qed.
Example report_Change_Periodic : of_report [Change] <> of_report [Periodic]. Proof. apart. Qed.
Example report_Change_ClosePeriodic : of_report [Change] <> of_report [Close; Periodic]. Proof. apart. Qed.
Example report_Change_ChangePeriodic : of_report [Change] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_Change_CloseChangePeriodic : of_report [Change] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_Change_NonEmptyPeriodic : of_report [Change] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Change_CloseNonEmptyPeriodic : of_report [Change] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Change_ChangeNonEmptyPeriodic : of_report [Change] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Change_CloseChangeNonEmptyPeriodic : of_report [Change] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChange_NonEmpty : of_report [Close; Change] <> of_report [NonEmpty]. Proof. apart. Qed.
Example report_CloseChange_CloseNonEmpty : of_report [Close; Change] <> of_report [Close; NonEmpty]. Proof. apart. Qed.
Example report_CloseChange_ChangeNonEmpty : of_report [Close; Change] <> of_report [Change; NonEmpty]. Proof. apart. Qed.
Example report_CloseChange_CloseChangeNonEmpty : of_report [Close; Change] <> of_report [Close; Change; NonEmpty]. Proof. apart. Qed.
Example report_CloseChange_Periodic : of_report [Close; Change] <> of_report [Periodic]. Proof. apart. Qed.
Example report_CloseChange_ClosePeriodic : of_report [Close; Change] <> of_report [Close; Periodic]. Proof. apart. Qed.
Example report_CloseChange_ChangePeriodic : of_report [Close; Change] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_CloseChange_CloseChangePeriodic : of_report [Close; Change] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_CloseChange_NonEmptyPeriodic : of_report [Close; Change] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChange_CloseNonEmptyPeriodic : of_report [Close; Change] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChange_ChangeNonEmptyPeriodic : of_report [Close; Change] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChange_CloseChangeNonEmptyPeriodic : of_report [Close; Change] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_NonEmpty_CloseNonEmpty : of_report [NonEmpty] <> of_report [Close; NonEmpty]. Proof. apart. Qed.
Example report_NonEmpty_ChangeNonEmpty : of_report [NonEmpty] <> of_report [Change; NonEmpty]. Proof. apart. Qed.
Example report_NonEmpty_CloseChangeNonEmpty : of_report [NonEmpty] <> of_report [Close; Change; NonEmpty]. Proof. apart. Qed.
Example report_NonEmpty_Periodic : of_report [NonEmpty] <> of_report [Periodic]. Proof. apart. Qed.
Example report_NonEmpty_ClosePeriodic : of_report [NonEmpty] <> of_report [Close; Periodic]. Proof. apart. Qed.
Example report_NonEmpty_ChangePeriodic : of_report [NonEmpty] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_NonEmpty_CloseChangePeriodic : of_report [NonEmpty] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_NonEmpty_NonEmptyPeriodic : of_report [NonEmpty] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_NonEmpty_CloseNonEmptyPeriodic : of_report [NonEmpty] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_NonEmpty_ChangeNonEmptyPeriodic : of_report [NonEmpty] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_NonEmpty_CloseChangeNonEmptyPeriodic : of_report [NonEmpty] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmpty_ChangeNonEmpty : of_report [Close; NonEmpty] <> of_report [Change; NonEmpty]. Proof. apart. Qed.
Example report_CloseNonEmpty_CloseChangeNonEmpty : of_report [Close; NonEmpty] <> of_report [Close; Change; NonEmpty]. Proof. apart. Qed.
Example report_CloseNonEmpty_Periodic : of_report [Close; NonEmpty] <> of_report [Periodic]. Proof. apart. Qed.
Example report_CloseNonEmpty_ClosePeriodic : of_report [Close; NonEmpty] <> of_report [Close; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmpty_ChangePeriodic : of_report [Close; NonEmpty] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmpty_CloseChangePeriodic : of_report [Close; NonEmpty] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmpty_NonEmptyPeriodic : of_report [Close; NonEmpty] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmpty_CloseNonEmptyPeriodic : of_report [Close; NonEmpty] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmpty_ChangeNonEmptyPeriodic : of_report [Close; NonEmpty] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmpty_CloseChangeNonEmptyPeriodic : of_report [Close; NonEmpty] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmpty_CloseChangeNonEmpty : of_report [Change; NonEmpty] <> of_report [Close; Change; NonEmpty]. Proof. apart. Qed.
Example report_ChangeNonEmpty_Periodic : of_report [Change; NonEmpty] <> of_report [Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmpty_ClosePeriodic : of_report [Change; NonEmpty] <> of_report [Close; Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmpty_ChangePeriodic : of_report [Change; NonEmpty] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmpty_CloseChangePeriodic : of_report [Change; NonEmpty] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmpty_NonEmptyPeriodic : of_report [Change; NonEmpty] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmpty_CloseNonEmptyPeriodic : of_report [Change; NonEmpty] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmpty_ChangeNonEmptyPeriodic : of_report [Change; NonEmpty] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmpty_CloseChangeNonEmptyPeriodic : of_report [Change; NonEmpty] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChangeNonEmpty_Periodic : of_report [Close; Change; NonEmpty] <> of_report [Periodic]. Proof. apart. Qed.
Example report_CloseChangeNonEmpty_ClosePeriodic : of_report [Close; Change; NonEmpty] <> of_report [Close; Periodic]. Proof. apart. Qed.
Example report_CloseChangeNonEmpty_ChangePeriodic : of_report [Close; Change; NonEmpty] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_CloseChangeNonEmpty_CloseChangePeriodic : of_report [Close; Change; NonEmpty] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_CloseChangeNonEmpty_NonEmptyPeriodic : of_report [Close; Change; NonEmpty] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChangeNonEmpty_CloseNonEmptyPeriodic : of_report [Close; Change; NonEmpty] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChangeNonEmpty_ChangeNonEmptyPeriodic : of_report [Close; Change; NonEmpty] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChangeNonEmpty_CloseChangeNonEmptyPeriodic : of_report [Close; Change; NonEmpty] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Periodic_ClosePeriodic : of_report [Periodic] <> of_report [Close; Periodic]. Proof. apart. Qed.
Example report_Periodic_ChangePeriodic : of_report [Periodic] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_Periodic_CloseChangePeriodic : of_report [Periodic] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_Periodic_NonEmptyPeriodic : of_report [Periodic] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Periodic_CloseNonEmptyPeriodic : of_report [Periodic] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Periodic_ChangeNonEmptyPeriodic : of_report [Periodic] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_Periodic_CloseChangeNonEmptyPeriodic : of_report [Periodic] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ClosePeriodic_ChangePeriodic : of_report [Close; Periodic] <> of_report [Change; Periodic]. Proof. apart. Qed.
Example report_ClosePeriodic_CloseChangePeriodic : of_report [Close; Periodic] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_ClosePeriodic_NonEmptyPeriodic : of_report [Close; Periodic] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ClosePeriodic_CloseNonEmptyPeriodic : of_report [Close; Periodic] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ClosePeriodic_ChangeNonEmptyPeriodic : of_report [Close; Periodic] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ClosePeriodic_CloseChangeNonEmptyPeriodic : of_report [Close; Periodic] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangePeriodic_CloseChangePeriodic : of_report [Change; Periodic] <> of_report [Close; Change; Periodic]. Proof. apart. Qed.
Example report_ChangePeriodic_NonEmptyPeriodic : of_report [Change; Periodic] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangePeriodic_CloseNonEmptyPeriodic : of_report [Change; Periodic] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangePeriodic_ChangeNonEmptyPeriodic : of_report [Change; Periodic] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangePeriodic_CloseChangeNonEmptyPeriodic : of_report [Change; Periodic] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChangePeriodic_NonEmptyPeriodic : of_report [Close; Change; Periodic] <> of_report [NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChangePeriodic_CloseNonEmptyPeriodic : of_report [Close; Change; Periodic] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChangePeriodic_ChangeNonEmptyPeriodic : of_report [Close; Change; Periodic] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseChangePeriodic_CloseChangeNonEmptyPeriodic : of_report [Close; Change; Periodic] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_NonEmptyPeriodic_CloseNonEmptyPeriodic : of_report [NonEmpty; Periodic] <> of_report [Close; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_NonEmptyPeriodic_ChangeNonEmptyPeriodic : of_report [NonEmpty; Periodic] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_NonEmptyPeriodic_CloseChangeNonEmptyPeriodic : of_report [NonEmpty; Periodic] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmptyPeriodic_ChangeNonEmptyPeriodic : of_report [Close; NonEmpty; Periodic] <> of_report [Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_CloseNonEmptyPeriodic_CloseChangeNonEmptyPeriodic : of_report [Close; NonEmpty; Periodic] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.
Example report_ChangeNonEmptyPeriodic_CloseChangeNonEmptyPeriodic : of_report [Change; NonEmpty; Periodic] <> of_report [Close; Change; NonEmpty; Periodic]. Proof. apart. Qed.

Definition of_close_rule (v : CloseRule) := contents_of [the_close_rule v] (time_window 2 2) (at_instants [0; 2; 4]).
Example close_rule_Reached_Passed : of_close_rule Reached <> of_close_rule Passed. Proof. apart. Qed.

Definition of_anchor (v : Anchor) := contents_of [the_report [Periodic]; the_period 3 v] (time_window 2 2) (at_instants [2; 9]).
Example anchor_AnchorAt_AnchorT0 : of_anchor (AnchorAt 1) <> of_anchor AnchorT0. Proof. apart. Qed.
Example anchor_AnchorAt_AnchorFirst : of_anchor (AnchorAt 1) <> of_anchor AnchorFirst. Proof. apart. Qed.
Example anchor_AnchorT0_AnchorFirst : of_anchor AnchorT0 <> of_anchor AnchorFirst. Proof. apart. Qed.

Definition of_change_baseline (v : Baseline) := contents_of [the_report [Close; Change]; the_baseline v] (time_window 4 4) (at_instants [0; 9]).
Example change_baseline_LastReport_PreviousInstant : of_change_baseline LastReport <> of_change_baseline PreviousInstant. Proof. apart. Qed.

Definition of_change_scope (v : ChangeScope) := contents_of [the_report [Change]; the_change_scope v] (time_window 4 4) (at_instants [0; 1; 2]).
Example change_scope_ByElements_ByGraph : of_change_scope ByElements <> of_change_scope ByGraph. Proof. apart. Qed.

Definition of_expiry_seen (v : ExpirySeen) := contents_of [the_report [Change]; the_expiry v] (time_window 2 2) (at_instants [0; 2; 4]).
Example expiry_seen_Replayed_Eager : of_expiry_seen Replayed <> of_expiry_seen Eager. Proof. apart. Qed.

Definition of_missed_instants (v : Missed) := contents_of [the_missed v] (time_window 2 2) (at_instants [0; 9]).
Example missed_instants_All_Latest : of_missed_instants All <> of_missed_instants Latest. Proof. apart. Qed.

Definition of_tick (v : Tick) :=
  contents_of [the_report [Change]; the_tick v] (time_window 4 4) (elements another [(1, 1); (1, 1); (2, 1); (3, 2)]).
Example tick_TupleTick_TimeTick : of_tick TupleTick <> of_tick TimeTick. Proof. apart. Qed.
Example tick_TupleTick_BatchTick : of_tick TupleTick <> of_tick BatchTick. Proof. apart. Qed.
Example tick_TimeTick_BatchTick : of_tick TimeTick <> of_tick BatchTick. Proof. apart. Qed.

(** The second window is marked. *)
Definition of_trigger (v : Trigger) :=
  contents_of [the_trigger v] (over [window Time 2 2 false; window Time 3 3 true]) (at_instants [0; 8]).
Example trigger_AnyOf_AllOf : of_trigger AnyOf <> of_trigger AllOf. Proof. apart. Qed.
Example trigger_AnyOf_Leading : of_trigger AnyOf <> of_trigger Leading. Proof. apart. Qed.
Example trigger_AnyOf_Explicit : of_trigger AnyOf <> of_trigger Explicit. Proof. apart. Qed.
Example trigger_AllOf_Leading : of_trigger AllOf <> of_trigger Leading. Proof. apart. Qed.
Example trigger_AllOf_Explicit : of_trigger AllOf <> of_trigger Explicit. Proof. apart. Qed.
Example trigger_Leading_Explicit : of_trigger Leading <> of_trigger Explicit. Proof. apart. Qed.

Definition of_collection (v : Collection) :=
  outputs_of [the_collection v] (time_window 2 2) (elements (fun i => [(i, 1, 1)]) [(0, 1); (1, 1)]).
Example collection_AsBag_AsSet : of_collection AsBag <> of_collection AsSet. Proof. apart. Qed.

(** The body has two patterns, for the predicates 1 and 2: two elements fit the first one, and one the second. *)
Definition of_consumption (v : Consumption) :=
  let body (d : list Quad) := flat_map (fun x => flat_map (fun y => let '((a, p, _), _) := x in let '((b, q, _), _) := y in
                                if andb (p =? 1) (q =? 2) then [[a; b]] else []) d) d in
  let q := {| windows := [{| on := 1; kind := Range; size := 4; stated := None; unit := PerElement; by_ := []; name := 0;
                            triggers := false; lag := 0 |}]; registered := None; operator := None; static := [];
              patterns := [(Var 1, Const 1, Var 2); (Var 3, Const 2, Var 4)]; selected := [1; 3] |} in
  map rows (evaluate body (semantics [the_consumption v; the_r2s Append; the_report [Change]]) q
              (elements (fun i => [(i, if i =? 2 then 2 else 1, 5)]) [(0, 1); (1, 1); (2, 1)])).
Example consumption_Unrestricted_Recent : of_consumption Unrestricted <> of_consumption Recent. Proof. apart. Qed.
Example consumption_Unrestricted_Chronological : of_consumption Unrestricted <> of_consumption Chronological. Proof. apart. Qed.
Example consumption_Recent_Chronological : of_consumption Recent <> of_consumption Chronological. Proof. apart. Qed.

(** All elements have the same row. *)
Definition of_r2s (v : R2S) := outputs_of [the_r2s v] (time_window 2 1) (at_instants [0; 2; 3]).
Example r2s_Rstream_Istream : of_r2s Rstream <> of_r2s Istream. Proof. apart. Qed.
Example r2s_Rstream_Dstream : of_r2s Rstream <> of_r2s Dstream. Proof. apart. Qed.
Example r2s_Rstream_Append : of_r2s Rstream <> of_r2s Append. Proof. apart. Qed.
Example r2s_Istream_Dstream : of_r2s Istream <> of_r2s Dstream. Proof. apart. Qed.
Example r2s_Istream_Append : of_r2s Istream <> of_r2s Append. Proof. apart. Qed.
Example r2s_Dstream_Append : of_r2s Dstream <> of_r2s Append. Proof. apart. Qed.

(** A row goes, and comes back. *)
Definition of_base (v : Base) := outputs_of [the_r2s Istream; the_base v] (time_window 1 1) (at_instants [0; 2]).
Example base_Previous_PreviousNew : of_base Previous <> of_base PreviousNew. Proof. apart. Qed.

Definition of_empty (v : Empty) := outputs_of [the_empty v] (time_window 1 1) (at_instants [0; 4]).
Example empty_Emit_Suppress : of_empty Emit <> of_empty Suppress. Proof. apart. Qed.
Example empty_Emit_Once : of_empty Emit <> of_empty Once. Proof. apart. Qed.
Example empty_Suppress_Once : of_empty Suppress <> of_empty Once. Proof. apart. Qed.

Definition of_horizon (v : Horizon) := contents_of [the_horizon v] (time_window 2 1) (at_instants [0; 1]).
Example horizon_HorizonAt_NoHorizon : of_horizon (HorizonAt 2) <> of_horizon NoHorizon. Proof. apart. Qed.
Example horizon_HorizonAt_Flush : of_horizon (HorizonAt 2) <> of_horizon Flush. Proof. apart. Qed.
Example horizon_NoHorizon_Flush : of_horizon NoHorizon <> of_horizon Flush. Proof. apart. Qed.

Definition of_instant (v : Instant) :=
  map stamped (evaluate objects (semantics [the_instant v]) (time_window 2 2) (at_instants [0; 5])).
Example instant_AtClose_AtEvaluation : of_instant AtClose <> of_instant AtEvaluation. Proof. apart. Qed.
Example instant_AtClose_AtTrigger : of_instant AtClose <> of_instant AtTrigger. Proof. apart. Qed.
Example instant_AtClose_AtEager : of_instant AtClose <> of_instant AtEager. Proof. apart. Qed.
Example instant_AtEvaluation_AtTrigger : of_instant AtEvaluation <> of_instant AtTrigger. Proof. apart. Qed.
Example instant_AtEvaluation_AtEager : of_instant AtEvaluation <> of_instant AtEager. Proof. apart. Qed.
Example instant_AtTrigger_AtEager : of_instant AtTrigger <> of_instant AtEager. Proof. apart. Qed.

Definition of_reported_windows (v : ReportedWindows) :=
  firings_of {| reported_windows := v; exact_gap := Parts; expired_session := Gone; session_border := AtGap; early_count := None;
                early_period := None; panes := Accumulating; late_for := ForStream; watermark_of := Greatest;
                watermark_delay := 0; expiry_rule := Reached; clock := OfStream |} (time_window 10 5) (at_instants [7; 8]).
Example reported_windows_Active_Every : of_reported_windows Active <> of_reported_windows Every. Proof. apart. Qed.

Definition of_exact_gap (v : ExactGap) :=
  firings_of (alone v Gone AtGap Accumulating ForStream Reached) (sessions 5) (at_instants [0; 5]).
Example exact_gap_Joins_Parts : of_exact_gap Joins <> of_exact_gap Parts. Proof. apart. Qed.

(** When the last element comes, the session at 0 has expired, and that at 3 has not. *)
Definition of_expired_session (v : ExpiredSession) :=
  firings_of (alone Joins v AtGap Accumulating ForWindow Reached) (sessions 2) (at_instants [0; 3; 2]).
Example expired_session_Gone_Joined : of_expired_session Gone <> of_expired_session Joined. Proof. apart. Qed.

Definition of_session_border (v : SessionBorder) :=
  firings_of (alone Parts Gone v Accumulating ForStream Reached) (sessions 5) (at_instants [0]).
Example session_border_AtGap_AtLast : of_session_border AtGap <> of_session_border AtLast. Proof. apart. Qed.
Example session_border_AtGap_AtNext : of_session_border AtGap <> of_session_border AtNext. Proof. apart. Qed.
Example session_border_AtLast_AtNext : of_session_border AtLast <> of_session_border AtNext. Proof. apart. Qed.

(** The second element leaves the session's borders as they are, and the third one moves them. *)
Definition of_panes (v : Panes) :=
  firings_of (alone Parts Gone AtGap v ForStream Reached) (sessions 5) (at_instants [0; 0; 1]).
Example panes_Accumulating_Discarding : of_panes Accumulating <> of_panes Discarding. Proof. apart. Qed.
Example panes_Accumulating_Retracting : of_panes Accumulating <> of_panes Retracting. Proof. apart. Qed.
Example panes_Accumulating_Replacing : of_panes Accumulating <> of_panes Replacing. Proof. apart. Qed.
Example panes_Discarding_Retracting : of_panes Discarding <> of_panes Retracting. Proof. apart. Qed.
Example panes_Discarding_Replacing : of_panes Discarding <> of_panes Replacing. Proof. apart. Qed.
Example panes_Retracting_Replacing : of_panes Retracting <> of_panes Replacing. Proof. apart. Qed.

Definition of_late_for (v : LateFor) :=
  firings_of (alone Parts Gone AtGap Accumulating v Reached) (time_window 2 2) (at_instants [0; 5; 3]).
Example late_for_ForStream_ForWindow : of_late_for ForStream <> of_late_for ForWindow. Proof. apart. Qed.
Example late_for_ForStream_ForNothing : of_late_for ForStream <> of_late_for ForNothing. Proof. apart. Qed.
Example late_for_ForWindow_ForNothing : of_late_for ForWindow <> of_late_for ForNothing. Proof. apart. Qed.

(** The second element, at 2, has no triple. *)
Definition of_watermark (v : Watermark) :=
  firings_of {| reported_windows := Every; exact_gap := Parts; expired_session := Gone; session_border := AtGap; early_count := None;
                early_period := None; panes := Accumulating; late_for := ForWindow; watermark_of := v; watermark_delay := 0;
                expiry_rule := Reached; clock := OfStream |} (time_window 2 2)
    (elements (fun i => if i =? 1 then [] else [(1, 1, 1)]) [(0, 1); (2, 1); (5, 1)]).
Example watermark_Greatest_Punctuation : of_watermark Greatest <> of_watermark Punctuation. Proof. apart. Qed.

(** The second element has another key, and closes the window of the first one under [OfStream]. *)
Definition of_clock (v : Clock) :=
  firings_of {| reported_windows := Active; exact_gap := Parts; expired_session := Gone; session_border := AtGap; early_count := None;
                early_period := None; panes := Accumulating; late_for := ForStream; watermark_of := Greatest;
                watermark_delay := 0; expiry_rule := Reached; clock := v |}
    (over [{| on := 1; kind := Time; size := 2; stated := Some 2; unit := PerElement; by_ := [Subject]; name := 0;
              triggers := false; lag := 0 |}]) (elements (fun i => [(i, 1, 1)]) [(0, 1); (3, 1)]).
Example clock_OfStream_OfKey : of_clock OfStream <> of_clock OfKey. Proof. apart. Qed.

(** When the element at 1 comes, the watermark is where the first window closes. *)
Definition of_expiry_rule (v : CloseRule) :=
  firings_of (alone Parts Gone AtGap Accumulating ForWindow v) (time_window 2 2) (at_instants [0; 2; 1]).
Example expiry_rule_Reached_Passed : of_expiry_rule Reached <> of_expiry_rule Passed. Proof. apart. Qed.
