import { Module } from '@nestjs/common';
import { DirectoryController } from './directory.controller.js';
import { IntrospectionController, MembershipsController } from './introspection.controller.js';

@Module({
  controllers: [IntrospectionController, MembershipsController, DirectoryController],
})
export class IntrospectionModule {}
