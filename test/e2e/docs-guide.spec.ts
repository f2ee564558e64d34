import { typedPagesSuite } from './typed-pages.ts';

describe('the guide', function () {
  typedPagesSuite.call(this, 'guide');
});
