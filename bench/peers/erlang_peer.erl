%% Erlang/OTP (BEAM with its JIT) as a peer: a process is an actor with an unbounded mailbox.
%%
%%     erlc +inline -o DIR erlang_peer.erl
%%     erl -noshell -noinput +S N:N +sbwt none +P 4000000 -pa DIR \
%%         -run erlang_peer main WORKLOAD THREADS SCALE VARIANT
%%
%% Workloads: w1 w2-inside w3-1 w3-100 w4 w5-inside w8 w9-idle. (No w6: a process that sends and
%% then sleeps hands its own scheduler thread to the receiver, so no parked thread is woken.)
%% Variants: WAIT-HEAP; WAIT is said to the emulator (sleepy: +sbwt none, spinning: +sbwt
%% very_long), HEAP is off or on: where messages of a receiver wait. Loads are those of peer.h.
%%
%% SPDX-License-Identifier: Apache-2.0
-module(erlang_peer).
-export([main/1]).

main([Workload, _Threads, Scale, Variant]) ->
    put(workload, Workload),
    put(scale, to_number(Scale)),
    put(heap, case lists:suffix("-on", Variant) of true -> on_heap; false -> off_heap end),
    run(Workload),
    erlang:halt(0).

run("w1") -> ring(2, 1, 4000000);
run("w3-1") -> ring(1000, 1, 5000000);
run("w3-100") -> ring(1000, 100, 5000000);
run("w2-inside") -> fan_in(1, 4, scaled(10000000 div 4, 1));
run("w5-inside") -> fan_in(64, 2, scaled(100000, 1));
run("w4") -> crowd();
run("w8") -> timers();
run("w9-idle") -> idle();
run(Workload) -> stop(2, "erlang_peer: does no ~s~n", [Workload]).

%% --- the workloads -------------------------------------------------------------------------------

ring(Actors, Tokens, Full) ->
    Each = scaled(Full, Tokens) div Tokens,
    Me = self(),
    Ring = [spawn_link(fun() -> hop(undefined, Me, 0) end) || _ <- lists:seq(1, Actors)],
    [From ! {next, To} || {From, To} <- lists:zip(Ring, tl(Ring) ++ [hd(Ring)])],
    Start = now_ns(),
    [lists:nth(T * Actors div Tokens + 1, Ring) ! Each || T <- lists:seq(0, Tokens - 1)],
    await(done, Tokens),
    Elapsed = now_ns() - Start,
    [Pid ! count || Pid <- Ring],
    Total = lists:sum([receive {count, Pid, N} -> N end || Pid <- Ring]),
    check(Total =:= Tokens * (Each + 1), "~b hops~n", [Total]),
    result_rate(Total, Elapsed).

hop(Next, Main, Count) ->
    receive
        0 -> Main ! done, hop(Next, Main, Count + 1);
        Hops when is_integer(Hops) -> Next ! Hops - 1, hop(Next, Main, Count + 1);
        {next, Pid} -> hop(Pid, Main, Count);
        count -> Main ! {count, self(), Count}
    end.

%% With one receiver all producers send to it, else each to its share of them in turn.
fan_in(Receivers, Producers, Each) ->
    Me = self(),
    Senders = case Receivers of 1 -> Producers; _ -> 1 end,
    Sink = fun() -> Me ! {sunk, sink(Senders * Each, 0, 0, 0, 0)} end,
    Sinks = [spawn_opt(Sink, [{message_queue_data, get(heap)}]) || _ <- lists:seq(1, Receivers)],
    Start = now_ns(),
    [spawn(fun() -> produce(share(Sinks, P, Producers), sender(Receivers, P), 0, Each) end)
     || P <- lists:seq(0, Producers - 1)],
    [receive {sunk, Good} -> check(Good, "events out of order~n", []) end || _ <- Sinks],
    result_rate(Receivers * Senders * Each, now_ns() - Start).

share([Only], _, _) -> [Only];
share(Sinks, P, Producers) ->
    [Pid || {I, Pid} <- lists:enumerate(0, Sinks), I rem Producers =:= P].

sender(1, P) -> P;
sender(_, _) -> 0.

produce(_, _, Each, Each) -> ok;
produce(Sinks, Sender, N, Each) ->
    send_all(Sinks, {Sender, N}),
    produce(Sinks, Sender, N + 1, Each).

send_all([], _) -> ok;
send_all([Pid | More], Event) -> Pid ! Event, send_all(More, Event).

%% The next number of each of four senders is an argument: nothing is built for an event.
sink(0, _, _, _, _) -> true;
sink(Left, A, B, C, D) ->
    receive
        {0, A} -> sink(Left - 1, A + 1, B, C, D);
        {1, B} -> sink(Left - 1, A, B + 1, C, D);
        {2, C} -> sink(Left - 1, A, B, C + 1, D);
        {3, D} -> sink(Left - 1, A, B, C, D + 1);
        {_, _} -> false
    end.

crowd() ->
    Count = scaled(1000000, 1),
    Me = self(),
    Others = erlang:system_info(process_count),
    Before = resident_bytes(),
    Start = now_ns(),
    Crowd = [spawn(fun() -> one(Me) end) || _ <- lists:seq(1, Count)],
    [Pid ! event || Pid <- Crowd],
    await(done, Count),
    Bytes = resident_bytes() - Before,
    [Pid ! stop || Pid <- Crowd],
    await_gone(Others),
    result("seconds", (now_ns() - Start) / 1.0e9),
    result("bytes_each", Bytes / Count).

one(Main) -> receive event -> Main ! done, one(Main); stop -> ok end.

await_gone(Others) ->
    case erlang:system_info(process_count) > Others of
        true -> timer:sleep(1), await_gone(Others);
        false -> ok
    end.

timers() ->
    Count = scaled(1000000, 2),
    Me = self(),
    rand:seed(exsss, 1),
    Delays = [2000 + rand:uniform(1000) || _ <- lists:seq(1, Count)],
    Sink = spawn(fun() -> await(fired, Count div 2), Me ! done, await(fired, 1), Me ! too_many end),
    Start = now_ns(),
    Timers = [erlang:send_after(Delay, Sink, fired) || Delay <- Delays],
    result("schedule_per_s", Count / (now_ns() - Start) * 1.0e9),
    Middle = now_ns(),
    cancel_half(Timers),
    result("cancel_per_s", Count / 2 / (now_ns() - Middle) * 1.0e9),
    Cpu = cpu_ms(),
    await(done, 1),
    result("fire_cpu_ms", cpu_ms() - Cpu),
    receive too_many -> check(false, "a cancelled timer fired~n", []) after 50 -> ok end.

cancel_half([Timer, _ | More]) ->
    erlang:cancel_timer(Timer, [{info, false}]),
    cancel_half(More);
cancel_half([]) -> ok.

idle() ->
    [spawn(fun() -> receive never -> ok end end) || _ <- lists:seq(1, 8)],
    Seconds = max(0.2, 5 * get(scale)),
    timer:sleep(300),
    Before = cpu_ms(),
    timer:sleep(round(Seconds * 1000)),
    result("cpu_ms", (cpu_ms() - Before) / Seconds).

%% --- what they share -----------------------------------------------------------------------------

await(_, 0) -> ok;
await(What, Count) -> receive What -> await(What, Count - 1) end.

to_number(Text) ->
    case string:to_float(Text) of
        {error, no_float} -> list_to_integer(Text) * 1.0;
        {Number, _} -> Number
    end.

scaled(Full, Unit) -> Unit * max(1, trunc(Full * get(scale)) div Unit).

now_ns() -> erlang:monotonic_time(nanosecond).

check(true, _, _) -> ok;
check(false, Format, Arguments) -> stop(1, "WRONG " ++ Format, Arguments).

stop(Status, Format, Arguments) ->
    io:format(standard_error, Format, Arguments),
    erlang:halt(Status).

result(Metric, Value) ->
    io:format("RESULT erlang ~s ~s ~w~n", [get(workload), Metric, Value * 1.0]).

result_rate(Events, Elapsed) ->
    result("events_per_s", Events / Elapsed * 1.0e9),
    result("ns_per_event", Elapsed / Events).

resident_bytes() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    binary_to_integer(lists:nth(2, string:lexemes(Text, " "))) * 4096.

%% Of all threads, by the scheduler's clock: what counts in ticks sees no idle thread.
cpu_ms() ->
    {ok, Tasks} = file:list_dir("/proc/self/task"),
    lists:sum([task_ns(Task) || Task <- Tasks]) / 1.0e6.

task_ns(Task) ->
    case file:read_file("/proc/self/task/" ++ Task ++ "/schedstat") of
        {ok, Text} -> binary_to_integer(hd(string:lexemes(Text, " ")));
        {error, _} -> 0
    end.
