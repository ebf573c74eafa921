import type { Reporter, TestModule } from 'vitest/node';

/** Ends the output with the counts on one line, and says when half of the tests was skipped. */
export class EngineReporter implements Reporter {
  constructor(private readonly mariadb: boolean) {}

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === 'passed').length;
    const brokenModules = modules.filter((module) => module.errors().length > 0).length;
    const failed =
      tests.filter((test) => test.result().state === 'failed').length + brokenModules + errors.length;
    const lines = this.mariadb ? [] : ['', 'MariaDB half did NOT run: no mariadbd on this machine.', ''];
    console.log([...lines, `${passed} passed, ${failed} failed`].join('\n'));
  }
}
