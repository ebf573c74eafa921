import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import type { Engine } from './test/support/engine.js';
import { MistakeReporter } from './test/support/reporters.js';
import { testsOn, unitTests } from './test/support/test-projects.js';

// Set by the script that puts mistakes into a copy of the project and runs this there.
const engine = process.env['MUTATE_ENGINE'] as Engine;
const files = (process.env['MUTATE_FILES'] ?? '').split('\n');
const report = process.env['MUTATE_REPORT'] ?? '';

/** In the given order: first those that are likely to notice a mistake. */
class GivenOrder extends BaseSequencer {
  override sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number =>
      files.findIndex((file) => moduleId.endsWith(`/${file}`));
    return Promise.resolve(specifications.toSorted((one, other) => place(one) - place(other)));
  }
}

const unit = files.filter((file) => file.startsWith('src/'));
const overHttp = files.filter((file) => file.startsWith('test/'));

export default defineConfig({
  cacheDir: '.vite',
  test: {
    maxWorkers: 1,
    bail: 1,
    passWithNoTests: true,
    sequence: { sequencer: GivenOrder },
    reporters: [new MistakeReporter(report)],
    projects: [
      ...(unit.length > 0 ? [{ test: { ...unitTests, include: unit } }] : []),
      ...(overHttp.length > 0 ? [{ test: { ...testsOn(engine), name: engine, include: overHttp } }] : []),
    ],
  },
});
