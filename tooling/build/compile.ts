import { join } from 'node:path';
import ts from 'typescript';
import { SwaggerPlugin } from './swagger-plugin.ts';

/**
 * Compiles single files into `dist` as `nest build` does, without checking types: most of them by themselves, in
 * milliseconds; those that the Swagger plugin rewrites together with all that they import.
 * @param files source files, by their paths in the project
 * @throws when one cannot be parsed
 */
export function compileFiles(root: string, files: readonly string[]): void {
  const plugin = new SwaggerPlugin(root);
  const { options } = readOptions(root);
  const paths = files.map((file) => join(root, file));

  const alone = paths.filter((path) => !plugin.rewrites(path));
  emit(ts.createProgram(alone, { ...options, noResolve: true, noLib: true }), alone);

  const typed = paths.filter((path) => plugin.rewrites(path));
  if (typed.length === 0) return;
  const program = ts.createProgram(typed, options);
  emit(program, typed, plugin.transformer(program));
}

function readOptions(root: string): ts.ParsedCommandLine {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail };
  const settings = ts.getParsedCommandLineOfConfigFile(join(root, 'tsconfig.build.json'), {}, host);
  if (!settings) throw new Error('tsconfig.build.json cannot be read');
  return settings;
}

function emit(program: ts.Program, paths: string[], before?: ts.TransformerFactory<ts.SourceFile>): void {
  for (const path of paths) {
    const source = program.getSourceFile(path);
    for (const diagnostic of program.getSyntacticDiagnostics(source)) fail(diagnostic);
    program.emit(source, undefined, undefined, false, { before: before ? [before] : [] });
  }
}

function fail(diagnostic: ts.Diagnostic): never {
  const host = {
    getCanonicalFileName: (path: string) => path,
    getCurrentDirectory: () => process.cwd(),
    getNewLine: () => '\n',
  };
  throw new Error(ts.formatDiagnostic(diagnostic, host));
}
