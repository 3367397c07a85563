--TEST--
Future: what counts as use
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../tell.inc';
use Async\{Future, FutureState, Scope, Channel};
use function Async\{await, await_all, await_any_or_fail, spawn, suspend, timeout, signal};
function make(): Future { return Future::failed(new Exception('temporary')); }
tell(fn() => make()->await());
tell(fn() => await(make()));
echo "used\n";
Future::completed()->ignore();
(new FutureState())->ignore();
$f = Future::completed(); $f->await(); unset($f);
$f = Future::completed(); $f->map(fn() => 1)->ignore(); unset($f);
suspend();
$f = Future::completed(); $f->catch(fn() => 1)->ignore(); unset($f);
suspend();
$f = Future::completed(); $f->finally(fn() => 1)->ignore(); unset($f);
suspend();
await(spawn(fn() => 1), new Future(new FutureState()));
await_all([spawn(fn() => 1)], new Future(new FutureState()));
await_any_or_fail([Future::completed(1), new Future(new FutureState())]);
(new Scope)->awaitCompletion(new Future(new FutureState()));
$c = new Channel(1); $c->send(1, new Future(new FutureState())); $c->recv(new Future(new FutureState()));
echo "not used\n";
$s = new FutureState(); $line = __LINE__;
unset($s);
$f = Future::completed(); $f->isCompleted(); $f->isCancelled(); $f->getAwaitingInfo(); $f->getCreatedLocation();
unset($f);
echo "failed, used only by finally and map\n";
$f = Future::failed(new Exception('by finally')); $g = $f->finally(fn() => 1)->ignore(); suspend(); unset($f, $g);
echo "handled by catch\n";
$f = Future::failed(new Exception('handled')); $g = $f->catch(fn() => 1)->ignore(); suspend(); unset($f, $g);
echo "a derived one that failed\n";
$g = Future::completed()->map(fn() => throw new Exception('derived')); suspend(); unset($g);
echo "cancelled\n";
$f = new Future(new FutureState()); $f->cancel(); unset($f);
echo "an error handler\n";
set_error_handler(function ($level, $text, $file, $line) { echo 'handler ', $level === E_WARNING ? 'E_WARNING' : $level, ' ', strtok($text, ';'), ' ', $file === __FILE__ ? $line : $file, "\n"; return true; });
Future::completed();
@Future::completed();
echo "end\n";
--EXPECTF--
Exception: temporary
Exception: temporary
used
not used

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:24 in %s on line 25

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:26 in %s on line 27
failed, used only by finally and map

Warning: Unhandled exception in Future: by finally; use catch() or ignore() to handle. Created at %s:29, completed at %s:29 in %s on line 29
handled by catch
a derived one that failed

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:33 in %s on line 33

Warning: Unhandled exception in Future: derived; use catch() or ignore() to handle. Created at %s:33, completed at %s:33 in %s on line 33
cancelled

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:35 in %s on line 35
an error handler
handler E_WARNING Future was never used 38
handler E_WARNING Future was never used 39
end
