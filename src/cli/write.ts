import { once } from 'node:events';

/** To standard output. Waits for whoever reads it: memory holds no more than what a pipe takes. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
