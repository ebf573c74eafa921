import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';

/** Beside the sources; folders of src have some of these names, too. */
const NOT_COPIED = new Set(['.git', 'build', 'coverage', 'data', 'dist', 'secrets', 'tmp']);

/** A private copy of the project: mutations never touch the project itself. */
export class Workspace {
  readonly root: string;
  /** for temporary files, which go with it */
  readonly temporary: string;
  private readonly project: string;
  private readonly file: string;
  private readonly original: string;

  private constructor(project: string, root: string, file: string) {
    this.project = project;
    this.root = root;
    this.file = file;
    this.temporary = join(root, 'tmp');
    mkdirSync(this.temporary);
    symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'));
    this.original = readFileSync(join(root, file), 'utf8');
  }

  /** @param file the one that mistakes are put into, by its path in the project */
  static of(project: string, file: string): Workspace {
    const root = mkdtempSync(join(tmpdir(), 'accounts-mutate-'));
    const filter = (path: string): boolean =>
      !NOT_COPIED.has(relative(project, path)) && basename(path) !== 'node_modules';
    cpSync(project, root, { recursive: true, filter });
    return new Workspace(project, root, file);
  }

  /** Another, with what is built in this one. */
  copy(): Workspace {
    const other = Workspace.of(this.project, this.file);
    for (const built of ['build', 'dist'])
      cpSync(join(this.root, built), join(other.root, built), { recursive: true });
    return other;
  }

  write(source = this.original): void {
    writeFileSync(join(this.root, this.file), source);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
