// SPDX-License-Identifier: Apache-2.0
// Pictures of the page at WEIR_URL, for tools/screenshots, each as an argument
// "NAME:WIDTHxHEIGHT:light|dark:PROCESSOR:SECTION"; a PROCESSOR has its panel open, a SECTION is
// scrolled to. Prints the health and the advice that they show.
import { closePage, launch, openPage, until } from './harness.mjs';

const { WEIR_URL: URL_, WEIR_PICTURES: FOLDER, WEIR_PICTURE_SECONDS: SECONDS = '45' } = process.env;

const browser = await launch();
const pages = [];
for (const one of process.argv.slice(2)) {
    const [name, size, colorScheme, processor, section] = one.split(':');
    const [width, height] = size.split('x').map(Number);
    const phone = width < 600;
    const page = await openPage(browser, URL_, {
        viewport: { width, height },
        deviceScaleFactor: phone ? 2 : 1,
        isMobile: phone,
        colorScheme,
        reducedMotion: 'no-preference',
    });
    pages.push({ name, page, processor, section });
}
// So that the charts have something to show.
const end = Date.now() + Number(SECONDS) * 1000;
await until(() => Date.now() >= end, 'the end', 2000 * Number(SECONDS) + 20000);
for (const { name, page, processor, section } of pages) {
    await page.bringToFront();
    if (processor) {
        await page
            .locator('#processors-table .name')
            .getByText(processor, { exact: true })
            .evaluate((button) => button.click());
        await page.locator('#panel-recent tbody tr').first().waitFor();
        await page.evaluate(() => window.scrollTo(0, 0));
    }
    if (section) await page.evaluate((id) => document.getElementById(id).scrollIntoView(), section);
    // Another two frames, so that what was behind is drawn, too.
    const shown = await page.textContent('#engine-uptime');
    await until(async () => (await page.textContent('#engine-uptime')) !== shown, 'a new frame');
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
    const findings = await page.locator('#advice-list > li').allTextContents();
    const health = await page.textContent('#health-status');
    console.log(`${name}: ${health}${findings.map((text) => `; ${text}`).join('')}`);
    if (page.troubles.length > 0) console.log(page.troubles.join('\n'));
    await closePage(page);
}
await browser.close();
