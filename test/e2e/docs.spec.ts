import { typedPagesSuite } from './typed-pages.ts';

describe('README and docs', function () {
  typedPagesSuite.call(this, 'rest');
});
