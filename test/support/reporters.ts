import {
  BaseSequencer,
  DefaultReporter,
  type Reporter,
  type TestCase,
  type TestModule,
  type TestSpecification,
} from 'vitest/node';
import { writeFileSync } from 'node:fs';

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

export class ShortReporter extends DefaultReporter {
  protected override printTestModule(module: TestModule): void {
    if (module.state() === 'failed') super.printTestModule(module);
  }

  protected override printTestCase(moduleState: ReturnType<TestModule['state']>, test: TestCase): void {
    if (test.result().state === 'failed') super.printTestCase(moduleState, test);
  }
}

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

/** They wait for emails, which leave once a second, for slow clients, and for processes that start. */
const WAITING =
  /\/test\/(?:recovery\/|invitations\/mailed|auth\/(?:registration|login-follow|login-traces)|members\/streamed|http\/broken-http|rate-limits\/limits)/;
const DISTANCE = 8;

/** Begins files that wait one after the other: together they would leave the processor idle. */
export class SpreadingSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = new Set(sorted.map(({ project }) => project));
    return [...projects].flatMap((project) => spread(sorted.filter((file) => file.project === project)));
  }
}

function spread(files: TestSpecification[]): TestSpecification[] {
  const waiting = files.filter(({ moduleId }) => WAITING.test(moduleId));
  const others = files.filter(({ moduleId }) => !WAITING.test(moduleId));
  const spaced = waiting.flatMap((file, i) => [file, ...others.slice(i * DISTANCE, (i + 1) * DISTANCE)]);
  return [...spaced, ...others.slice(waiting.length * DISTANCE)];
}
