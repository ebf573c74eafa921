import type { Mutant } from './mutations.ts';

export function diff(file: string, { line, before, after }: Mutant): string {
  return [
    `${file}:${line}`,
    ...before.map((text) => `- ${text.trim()}`),
    ...after.map((text) => `+ ${text.trim()}`),
    '',
    '',
  ].join('\n');
}

/** Reports each mutation as it was tried, and finally those that nothing detected. */
export class Report {
  private readonly survivors: Mutant[] = [];
  private tried = 0;

  private readonly file: string;
  private readonly total: number;

  constructor(file: string, total: number) {
    this.file = file;
    this.total = total;
  }

  add(mutant: Mutant, noticedBy: string | undefined): void {
    this.tried += 1;
    if (noticedBy === undefined) this.survivors.push(mutant);
    const change = `${mutant.before.join(' ').trim()}  =>  ${mutant.after.join(' ').trim()}`;
    console.log(
      `${this.tried}/${this.total} line ${mutant.line}: ${noticedBy ?? 'SURVIVED'}\n      ${change.slice(0, 200)}`,
    );
  }

  end(): void {
    const sorted = this.survivors.toSorted((one, other) => one.start - other.start);
    console.log(`\n${sorted.map((mutant) => diff(this.file, mutant)).join('')}`);
    console.log(`${this.tried} mistakes, ${this.survivors.length} of them not noticed`);
  }
}
