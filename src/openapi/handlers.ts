import type { INestApplication } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';

export type Handler = (...parameters: unknown[]) => unknown;

/** Returns the handlers by name, which is the id of the operation. */
export function handlersOf(app: INestApplication): Map<string, Handler> {
  const controllers = new DiscoveryService(app.get(ModulesContainer)).getControllers();
  return new Map(
    controllers.flatMap(({ instance }) => handlersIn(Object.getPrototypeOf(instance) as object)),
  );
}

function handlersIn(prototype: object): [name: string, handler: Handler][] {
  return new MetadataScanner()
    .getAllMethodNames(prototype)
    .map((name): [string, Handler] => [name, Reflect.get(prototype, name) as Handler])
    .filter(([, handler]) => Reflect.hasMetadata(PATH_METADATA, handler));
}
