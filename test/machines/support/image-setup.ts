import { makeImages, startEngine } from './images.js';

export default async function setup(): Promise<() => Promise<void>> {
  const engine = await startEngine();
  const stop = async (): Promise<void> => {
    engine.signal('SIGTERM');
    await engine.ended;
  };
  await makeImages().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return stop;
}
