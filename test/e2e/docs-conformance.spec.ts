import { typedPagesSuite } from './typed-pages.ts';

describe('the page about conformance', function () {
  typedPagesSuite.call(this, 'conformance');
});
