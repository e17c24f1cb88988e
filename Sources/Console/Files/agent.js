// What a program calls itself, in words.

const browsers = [[/Edg\w*\/(\d+)/, "Edge"], [/OPR\/(\d+)/, "Opera"], [/SamsungBrowser\/(\d+)/, "Samsung Internet"], [/Firefox\/(\d+)/, "Firefox"],
  [/FxiOS\/(\d+)/, "Firefox"], [/CriOS\/(\d+)/, "Chrome"], [/Chrome\/(\d+)/, "Chrome"], [/Version\/(\d+)[\d.]* .*Safari/, "Safari"]];
const systems = [[/iPhone|iPod/, "iPhone"], [/iPad/, "iPad"], [/Android/, "Android"], [/CrOS/, "ChromeOS"], [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"], [/Linux/, "Linux"]];

/** “Firefox 140, Linux” for a `User-Agent` field; of other programs what they say first. */
export function program(userAgent) {
  if (!userAgent) return "–";
  const [expression, name] = browsers.find(([expression]) => expression.test(userAgent)) ?? [];
  if (!name) return userAgent.split(/[\s(]/)[0].slice(0, 60);
  const system = systems.find(([expression]) => expression.test(userAgent))?.[1];
  return [`${name} ${userAgent.match(expression)[1]}`, system].filter(Boolean).join(", ");
}
