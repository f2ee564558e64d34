/**
 * Loaded before Stryker: its mocha runner asks for modules of mocha without their ending, which mocha 12.0.3 wants. Once another
 * version of either works without it, this file goes.
 */
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    next(/\/mocha\/lib\/cli\/[a-z-]+$/.test(specifier) ? `${specifier}.cjs` : specifier, context),
});
