import { isReadByOthers, MAX_SECRET_FILE_KIB, readSecretFile } from './secret-file.js';
import { misspelledNames } from './misspelled-names.js';

/** Each can be given in a file that `NAME_FILE` names. The file wins: `NAME` may be the default of a systemd unit. */
const IN_FILES = new Set(['DATABASE_URL', 'REDIS_URL', 'SMTP_URL']);

/** An empty variable counts as unset. */
export class Variables {
  readonly problems: string[] = [];
  readonly exposed: string[] = [];
  private readonly known = new Set<string>();
  private readonly fromFiles = new Map<string, string>();

  constructor(private readonly environment: NodeJS.ProcessEnv) {
    for (const name of IN_FILES) this.readFile(name);
  }

  /** Every variable of the service is read here, so that unknown names can be compared with those that exist. */
  get(name: string): string {
    const inEnvironment = this.inEnvironment(name);
    return this.fromFiles.get(name) ?? inEnvironment;
  }

  expect(name: string, expected: string): void {
    if (this.fromFiles.has(name)) this.problems.push(`${name}_FILE: expected a file with ${expected}`);
    else this.problems.push(`${name}: expected ${expected}`);
  }

  /** Call it after all variables have been read. */
  refuseMisspelled(): void {
    const set = Object.keys(this.environment).filter((name) => this.environment[name]?.trim());
    this.problems.push(...misspelledNames(set, [...this.known]));
  }

  private readFile(name: string): void {
    const file = this.inEnvironment(`${name}_FILE`);
    if (file === '') return;
    const text = readSecretFile(file);
    if (text !== undefined) {
      this.fromFiles.set(name, text);
      if (isReadByOthers(file)) this.exposed.push(`${name}_FILE`);
    } else {
      this.problems.push(
        `${name}_FILE: expected a readable file of at most ${MAX_SECRET_FILE_KIB} KiB that is not empty`,
      );
    }
  }

  private inEnvironment(name: string): string {
    this.known.add(name);
    return this.environment[name]?.trim() ?? '';
  }
}
