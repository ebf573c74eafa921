import { afterAll, onTestFinished } from 'vitest';

type Closable = { close(): unknown } | { stop(): Promise<unknown> };

/** Closes it after the tests of the file or the `describe` that is being collected; what started last is closed first. */
export async function closeAfterAll<T extends Closable>(starting: Promise<T> | T): Promise<T> {
  const started = await starting;
  afterAll(async () => void (await close(started)));
  return started;
}

/** Closes it after the running test; what started last is closed first. */
export async function closeAfterTest<T extends Closable>(starting: Promise<T> | T): Promise<T> {
  const started = await starting;
  onTestFinished(async () => void (await close(started)));
  return started;
}

const close = (started: Closable): unknown => ('close' in started ? started.close() : started.stop());
