// `npm run test:e2e`.
import { suite } from './test/support/suites.ts';

export default suite('slow');
