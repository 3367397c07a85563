--TEST--
Channel: rendezvous, buffer, closing, iteration, futures, tokens, scope, timeouts
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\{Channel,Scope,ChannelException};
use function Async\{spawn,await,suspend,delay,timeout};
$ch = new Channel(0);
spawn(function() use ($ch) { foreach ([1,2,3] as $i) { $ch->send($i); echo "send$i "; } $ch->close(); echo "closed "; });
$r = fn($n) => spawn(function() use ($ch,$n) { try { while (true) echo "$n", $ch->recv(), " "; } catch (ChannelException $e) { echo "$n-closed "; } });
$a = $r('A'); $b = $r('B'); await($a); await($b); echo "\n";
$b = new Channel(2); $b->sendAsync('x'); $b->sendAsync('y'); var_dump($b->sendAsync('z'), count($b), $b->isFull()); $b->close(); foreach ($b as $v) echo $v; echo "\n";
try { $b->recv(); } catch (ChannelException $e) { echo $e->getMessage(), " ", $e->reason->value, "\n"; }
try { new Channel(-1); } catch (ValueError $e) { echo $e->getMessage(), "\n"; }
$c = new Channel(1); $f = $c->recvAsync(); $c->sendAsync(5); var_dump($f->await());
try { (new Channel)->recv(timeout(5)); } catch (Async\OperationCanceledException $e) { echo get_class($e->getPrevious()), "\n"; }
$s = new Scope; $ch2 = null; $s->spawn(function() use (&$ch2) { $ch2 = new Channel; try { $ch2->recv(); } catch (Throwable $e) { echo get_class($e), " ", $e->reason->name ?? '', "\n"; } }); suspend(); $s->cancel(); suspend(); suspend();
$d = new Channel(0, 50); try { $d->recv(); } catch (ChannelException $e) { echo $e->reason->name, "\n"; }
$h = new Channel(0, 5, 0, true); try { $h->recv(); } catch (ChannelException $e) { echo $e->reason->name, "\n"; }
try { foreach ($ch as &$v) {} } catch (Error $e) { echo $e->getMessage(), "\n"; }
echo "end\n";
--EXPECT--
A1 ABsend1 send2 2 Asend3 closed 3 BB-closed A-closed 
bool(false)
int(2)
bool(true)
xy
Channel is closed explicit
Async\Channel::__construct(): Argument #1 ($capacity) must be between 0 and 2147483647
int(5)
Async\TimeoutException
Async\ChannelException SCOPE_DISPOSED
DEADLOCK
NO_PRODUCERS
Cannot iterate channel by reference
end
