import { execFileSync } from 'node:child_process';

/** The tests run what is built: that is made of the sources as they are now. */
export default function setup(): void {
  execFileSync(process.execPath, ['tooling/build/main.ts'], { stdio: 'inherit' });
}
