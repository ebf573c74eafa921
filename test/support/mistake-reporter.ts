import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Writes down which test failed first, and how long each file took. */
export class MistakeReporter implements Reporter {
  constructor(private readonly file: string) {}

  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message: string }[]): void {
    const failures = [...modules.flatMap(failuresOf), ...errors.map(({ message }) => message)];
    const durations = modules.map((module) => [module.relativeModuleId, module.diagnostic().duration]);
    const report = { failure: failures[0], durations: Object.fromEntries(durations) as object };
    writeFileSync(this.file, JSON.stringify(report));
  }
}

function failuresOf(module: TestModule): string[] {
  const tests = [...module.children.allTests('failed')].map(
    (test) => `${module.relativeModuleId} > ${test.fullName}`,
  );
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  return [
    ...tests,
    ...[...suites, ...module.errors()].map(
      ({ message }) => `${module.relativeModuleId}: ${message.split('\n')[0]}`,
    ),
  ];
}
