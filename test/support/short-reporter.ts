import { DefaultReporter, type TestCase, type TestModule } from 'vitest/node';

/** Shows failures in full and only the number of everything else. */
export class ShortReporter extends DefaultReporter {
  protected override printTestModule(module: TestModule): void {
    if (module.state() === 'failed') super.printTestModule(module);
  }

  protected override printTestCase(moduleState: ReturnType<TestModule['state']>, test: TestCase): void {
    if (test.result().state === 'failed') super.printTestCase(moduleState, test);
  }
}
