import { globSync } from 'node:fs';
import { join } from 'node:path';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { type Access, RouteAccess } from '../../src/access/route-access.js';

const SRC = join(import.meta.dirname, '../../src');

export interface DeclaredRoute {
  method: string;
  /** with the names of its parameters, each after a colon */
  path: string;
  access: Access | undefined;
}

export async function declaredRoutes(): Promise<DeclaredRoute[]> {
  const files = globSync('**/*.controller.ts', { cwd: SRC });
  const modules = await Promise.all(
    files.map((file) => import(join(SRC, file)) as Promise<Record<string, { prototype: object }>>),
  );
  return modules.flatMap((module) => Object.values(module).flatMap(routesOf));
}

function routesOf(controller: { prototype: object }): DeclaredRoute[] {
  const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
  return Object.values(Object.getOwnPropertyDescriptors(controller.prototype))
    .map(({ value }) => value as (...parameters: unknown[]) => unknown)
    .filter((handler) => typeof handler === 'function' && Reflect.hasMetadata(METHOD_METADATA, handler))
    .map((handler) => {
      const own = Reflect.getMetadata(PATH_METADATA, handler) as string;
      return {
        method: RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod],
        path: `/${[base, own]
          .flatMap((part) => part.split('/'))
          .filter(Boolean)
          .join('/')}`,
        access: new Reflector().get(RouteAccess, handler),
      };
    });
}
