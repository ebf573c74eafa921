/** To the terminal; the report goes elsewhere. */
export function progress(text: string): void {
  process.stderr.write(`${(process.uptime() | 0).toString().padStart(4)} s  ${text}\n`);
}
