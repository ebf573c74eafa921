import { describe, expect, it } from 'vitest';
import { between, circularImports, graphOf } from './import-graph.ts';

const circlesIn = (files: Record<string, string>): string[] =>
  circularImports(graphOf(new Map(Object.entries(files))));

describe('an import cycle', () => {
  it.each([
    ['static', "import { b } from './b.js';"],
    ['for types alone', "import type { B } from './b.js';"],
    ['dynamic', "const { b } = await import('./b.js');"],
    ['dynamic, over several lines', "import(\n  './b.js'\n).then(go);"],
    ['of what it exports', "export { b } from './b.js';"],
    ['by the name that Node takes', "import './b.ts';"],
  ])('is found when an import is %s', (_kind, text) => {
    expect(
      circlesIn({ 'x/a.ts': text, 'x/b.ts': "import '../y.js';", 'y.ts': "import './x/a.js';" }),
    ).toEqual(['x/a.ts imports x/b.ts', 'x/b.ts imports y.ts', 'y.ts imports x/a.ts']);
  });

  it('does not contain files that only lead to it or away from it', () => {
    const files = {
      'before.ts': "import './a.js';",
      'a.ts': "import './b.js';",
      'b.ts': "import './a.js';\nimport './after.js';",
      'after.ts': "import 'elsewhere';\n// import './a.js';",
    };
    expect(circlesIn(files)).toEqual(['a.ts imports b.ts', 'b.ts imports a.ts']);
  });

  it('is found between rooms whose files have none', () => {
    const graph = graphOf(
      new Map([
        ['one/a.ts', "import '../two/b.js';\nimport './c.js';"],
        ['one/c.ts', ''],
        ['two/b.ts', "import '../one/c.js';"],
      ]),
    );
    expect(circularImports(graph)).toEqual([]);
    expect(circularImports(between((path) => path.split('/')[0]!, graph))).toEqual([
      'one imports two',
      'two imports one',
    ]);
  });
});
