import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They wait for emails, which leave once a second, and for slow clients. */
const WAITING = /\/test\/(?:recovery\/|invitations\/mailed|http\/broken-http|rate-limits\/limits)/;
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
