/** Holds what rooms register under the names of a closed list, each name once. */
export class NamedParts<Name extends string, Part> {
  private readonly parts = new Map<Name, Part>();

  constructor(private readonly names: readonly Name[]) {}

  register(name: Name, part: Part): void {
    if (this.parts.has(name)) throw new Error(`two parts are registered as "${name}"`);
    this.parts.set(name, part);
  }

  of(name: Name): Part {
    const part = this.parts.get(name);
    if (part === undefined) throw new Error(`no room has registered "${name}"`);
    return part;
  }

  /** Follows the list, whatever the order in which rooms registered. */
  inOrder(): Part[] {
    return this.names.map((name) => this.of(name));
  }

  named(): Record<Name, Part> {
    return Object.fromEntries(this.names.map((name) => [name, this.of(name)])) as Record<Name, Part>;
  }
}
