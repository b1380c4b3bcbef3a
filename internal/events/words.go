package events

// The vocabulary of the record. Immutable.
var (
	kinds = []string{
		"page_view", "click", "purchase", "add_to_cart", "search", "scroll",
		"share", "logout", "login", "refund", "impression", "error",
	}
	paths = []string{
		"/products", "/category", "/checkout", "/cart", "/search", "/account/orders", "/help/article", "/blog/2024",
	}
	slugs = []string{
		"mens-running-shoes", "wireless-noise-cancelling-headphones", "4k-monitor-27", "espresso-machine",
		"standing-desk-120x60", "usb-c-hub", "winter-jacket", "lego-technic",
	}
	systems  = []string{"ios", "android", "windows", "macos", "linux"}
	versions = []string{"17.4.1", "16.7", "14.0", "13.6.4", "12", "11.0.22631", "22.04", "15.1"}
	widths   = []int64{390, 412, 768, 1366, 1440, 1920, 2560, 3840}
	tags     = []string{
		"new", "promo", "sale", "vip", "beta", "returning", "mobile-app",
		"email", "seo", "direct", "eu", "us", "black-friday", "q4",
	}
	referrers = []referrer{
		plainReferrer("https://www.google.com/"), plainReferrer("https://www.bing.com/search"),
		plainReferrer("https://duckduckgo.com/"), plainReferrer("https://news.ycombinator.com/"),
		plainReferrer("https://t.co/"), plainReferrer("https://m.facebook.com/"),
	}
	escapedReferrer = referrer{
		json:  `"https:\/\/www.b\u00fccher.example\/\"q\""`,
		value: `https://www.bücher.example/"q"`,
	}
)

// referrer is a value beside its spelling in JSON; both are empty for null.
type referrer struct{ json, value string }

func plainReferrer(url string) referrer { return referrer{json: `"` + url + `"`, value: url} }
