import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type ts from 'typescript';

interface NestSettings {
  compilerOptions: { plugins: [{ options: { dtoFileNameSuffix: string[] } }] };
}

interface Plugin {
  before(options: object, program: ts.Program): ts.TransformerFactory<ts.SourceFile>;
}

/** What `nest build` has the Swagger plugin do: it writes the types of models and controllers into their code. */
export class SwaggerPlugin {
  private readonly options: { dtoFileNameSuffix: string[] };
  private readonly plugin: Plugin;

  constructor(root: string) {
    const settings = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8')) as NestSettings;
    this.options = settings.compilerOptions.plugins[0].options;
    this.plugin = createRequire(join(root, 'package.json'))('@nestjs/swagger/plugin') as Plugin;
  }

  isModel(file: string): boolean {
    return this.options.dtoFileNameSuffix.some((suffix) => file.endsWith(suffix));
  }

  rewrites(file: string): boolean {
    return this.isModel(file) || file.endsWith('.controller.ts');
  }

  transformer(program: ts.Program): ts.TransformerFactory<ts.SourceFile> {
    return this.plugin.before(this.options, program);
  }
}
