export interface Report {
  lines: string[];
  /** printed instead of the text with `--json`, one line each */
  json: object[];
  /** whether the command found faults */
  isRed?: boolean;
}

export interface Invocation {
  parameters: string[];
  options: Record<string, string | boolean | undefined>;
  /** Writes one line at once, as text or as JSON, where a report might not fit into memory. */
  print: (text: string, json: object) => Promise<void>;
}

type Option = [flags: string, meaning: string];

export interface CommandDefinition {
  /** name and parameters, such as `disable <USER>` */
  usage: string;
  summary: string;
  details?: string;
  options?: Option[];
  /** whether the command changes data, and so accepts or requires `--reason`, and accepts `--as` */
  changes?: boolean | 'with a reason';
  examples: string[];
  run: (invocation: Invocation) => Promise<Report>;
  /** commands below this one, which runs without them, too */
  commands?: CommandDefinition[];
}

export interface CommandGroup {
  name: string;
  summary: string;
  commands: CommandDefinition[];
}

export const LIST_LIMIT: Option = ['--limit <NUMBER>', 'at most this many (default: all)'];
