import { defineModule, made } from '../../module.js';
import { type ResolverSettings, resolverScope } from '../../resolver/directive/resolver-settings.js';
import { resolverOf } from '../../resolver/directive/resolvers.js';
import { resolverSlot } from '../../task/resolver-slot.js';

const slot = made(resolverSlot, ({ resolver, resolverTimeout }: Readonly<ResolverSettings>, env, protocol) => ({
  resolver: resolver === undefined ? undefined : resolverOf(resolver, protocol, env),
  resolverTimeout,
}));

/** Where names are looked up while the server runs. */
export const resolverModule = defineModule({ name: 'resolver', location: resolverScope, slot, stream: { slot } });
