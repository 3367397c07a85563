<?php
// Test cases of all kinds, each of which waits a little.
use PHPUnit\Framework\TestCase;

final class SampleTest extends TestCase {
    private string $file;

    protected function setUp(): void {
        $this->file = tempnam(sys_get_temp_dir(), 'sample');
        usleep(10_000);
    }
    protected function tearDown(): void {
        usleep(5_000);
        unlink($this->file);
    }

    public static function numbers(): iterable {
        for ($i = 0; $i < 10; $i++) {
            yield "number $i" => [$i];
        }
    }

    /** @dataProvider numbers */
    public function testFile(int $number): void {
        file_put_contents($this->file, "number $number");
        usleep(1000 * (20 - $number));
        $this->assertSame("number $number", file_get_contents($this->file));
        $this->assertFileExists($this->file);
    }

    /** @dataProvider numbers */
    public function testOutput(int $number): void {
        $this->expectOutputString("begin $number end $number");
        echo "begin $number";
        usleep(1000 * (10 + $number));
        echo " end $number";
    }

    public function testSockets(): void {
        [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        fwrite($a, "hello\n");
        usleep(20_000);
        $this->assertSame("hello\n", fgets($b));
    }
    public function testProcess(): void {
        $this->assertSame('done', exec('sleep 0.05; echo done'));
    }
    public function testException(): void {
        $this->expectException(LogicException::class);
        $this->expectExceptionMessage('expected');
        usleep(20_000);
        throw new LogicException('as expected');
    }
    public function testFailure(): void {
        usleep(20_000);
        $this->assertSame(1, 2);
    }
    public function testUnexpectedOutput(): void {
        $this->expectOutputString('this');
        usleep(10_000);
        echo 'that';
    }
    public function testError(): void {
        usleep(10_000);
        throw new RuntimeException('an error');
    }
    public function testWarningBecomesAnError(): void {
        usleep(10_000);
        file_get_contents('/nothing/here');
    }
    public function testExpectedWarning(): void {
        usleep(15_000);
        $this->expectWarning();
        file_get_contents('/nothing/here');
    }
    public function testSkipped(): void {
        usleep(10_000);
        $this->markTestSkipped('not today');
    }
    public function testIncomplete(): void {
        usleep(10_000);
        $this->markTestIncomplete('later');
    }
    public function testMock(): void {
        $mock = $this->createMock(Countable::class);
        $mock->expects($this->exactly(2))->method('count')->willReturnCallback(function () {
            usleep(5_000);
            return 3;
        });
        $this->assertSame(6, count($mock) + count($mock));
    }
    public function testProducer(): int {
        usleep(5_000);
        $this->assertTrue(true);
        return 5;
    }
}
