/** What a command did or found. */
export interface Report {
  /** for people */
  lines: string[];
  /** for programs, with `--json`: a line each */
  json: object[];
  /** found faults */
  isRed?: boolean;
}

export interface Invocation {
  parameters: string[];
  options: Record<string, string | boolean | undefined>;
  /** Writes a line at once, for people or for programs: for what may be too much for a report. */
  print: (text: string, json: object) => Promise<void>;
}

type Run = (invocation: Invocation) => Promise<Report>;

/** A command as it is declared: what it does is loaded when it is called. */
export interface CommandDefinition {
  /** with its parameters, such as `disable <USER>` */
  usage: string;
  summary: string;
  /** more to know, a paragraph */
  details?: string;
  /** flags and what they mean */
  options?: [flags: string, meaning: string][];
  /** changes something: takes who does it, and why */
  changes?: boolean | 'with a reason';
  /** what follows `accounts` */
  examples: string[];
  load: () => Promise<Run>;
}

export interface CommandGroup {
  name: string;
  summary: string;
  commands: CommandDefinition[];
}
